"""CSV files with a header: what is read, and what is refused."""

from pathlib import Path

import pytest

from polymodal.base.errors import PolymodalError
from polymodal.data.formats.archive import open_source
from polymodal.data.formats.csv_rows import read_rows


def rows(folder: Path, text: str, *needed: str):
    (folder / "a.csv").write_bytes(text.encode())
    return read_rows(open_source(folder), "a.csv", *needed)


def test_rows_come_with_their_lines_and_quoted_lines_stay_one(tmp_path: Path) -> None:
    found = rows(tmp_path, 'a,b\r\n1,"x\ny, ""z"""\r\n\r\n2,\u2028\r\n3\r\n4,5,6', "b")
    assert found.names == ("a", "b")
    assert [(where.rpartition(":")[2], row) for where, row in found] == [
        ("3", {"a": "1", "b": 'x\ny, "z"'}),
        ("5", {"a": "2", "b": "\u2028"}),
        ("6", {}),
        ("7", {}),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,c\n1,2", "a.csv: expected the columns a,b, found: a,c."),
        ("", "a.csv: expected the columns a,b, found: nothing."),
        (
            'a,b\n1,"2\n3,4\n',
            "a.csv:3: this is no sound CSV (unexpected end of data). Is a quote left open",
        ),
        ('a,b\n1,"2"3\n', "a.csv:2: this is no sound CSV ("),
        (f"a,b\n1,{'2' * 200_000}", "a.csv:2: this is no sound CSV (field larger than field limit"),
    ],
)
def test_what_is_no_sound_table_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PolymodalError) as caught:
        rows(tmp_path, text, "a", "b")
    assert message in str(caught.value)
