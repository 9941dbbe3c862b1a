"""What is told of work that takes a while."""

from polymodal.base import progress


def test_a_line_now_and_then_where_there_is_no_terminal(monkeypatch, capsys):
    now = iter([0, 10, 20, 30, 30, 40, 70, 70, 80, 90, 95, 99])  # asked again after each line
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
    assert list(progress.watched(range(9), "looking")) == list(range(9))
    said = capsys.readouterr().err.splitlines()
    assert said == ["looking: 3 of 9", "looking: 5 of 9"]


def test_nothing_is_told_of_what_is_soon_done(capsys):
    assert list(progress.watched("abc", "looking")) == ["a", "b", "c"]
    assert capsys.readouterr().err == ""
