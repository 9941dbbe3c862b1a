"""Tables in a terminal and out of one: figures stay whole, words may fold."""

from polymodal.base.tables import Table

WIDE = Table(
    header=["name", *(f"metric_{k}" for k in range(12))],
    rows=[[f"a model with a long name {n}", *["123.45 ± 6.78"] * 12] for n in range(3)],
)


def test_out_of_a_terminal_a_table_is_as_wide_as_it_must_be(capsys):
    WIDE.print("A title")
    shown = capsys.readouterr().out
    assert shown.count("123.45 ± 6.78") == 36
    assert "a model with a long name 2" in shown


def test_a_wide_table_is_turned_only_where_it_then_fits(capsys, monkeypatch):
    narrow = Table(header=["a", *"bcdefghijklmnop"], rows=[["1234567"] * 16])
    narrow.print()
    assert "│ p │ 1234567 │" in capsys.readouterr().out.replace("  ", " ")
    narrow.print(turn=False)
    assert capsys.readouterr().out.count("\n") == 5


def test_words_are_on_the_left_and_figures_on_the_right(capsys):
    Table(
        header=["", "text", "figure"], rows=[["1", "two words", "1.5"], ["2", "a b", "12.25"]]
    ).print()
    lines = capsys.readouterr().out.splitlines()
    assert "│ a b       │" in lines[4]
    assert "│    1.5 │" in lines[3]


def test_cells_and_titles_are_no_markup_and_do_nothing_to_a_terminal(capsys):
    hostile = ["a[red] dog[/]", "[sic] :smile:", "\x1b[31m\r"]
    Table(header=["[/]", "b", "c"], rows=[hostile]).print("what [/] is this\x07")
    shown = capsys.readouterr().out
    for text in (
        "a[red] dog[/]",
        "[sic] :smile:",
        r"\x1b[31m\r",
        r"what [/] is this\x07",
        "┃ [/] ",
    ):
        assert text in shown
    assert not {"\x1b", "\r", "\x07"} & set(shown)
