"""What is told of work that takes a while."""

import io

from polymodal.base import progress
from polymodal.base.printing import terminal


def test_a_line_now_and_then_where_there_is_no_terminal(monkeypatch, capsys):
    now = iter([0, 10, 20, 30, 30, 40, 70, 70, 80, 90, 95, 99])  # asked again after each line
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
    assert list(progress.watched(range(9), "looking")) == list(range(9))
    said = capsys.readouterr().err.splitlines()
    assert said == ["looking: 3 of 9", "looking: 5 of 9"]


def test_nothing_is_told_of_what_is_soon_done(capsys):
    assert list(progress.watched("abc", "looking")) == ["a", "b", "c"]
    assert capsys.readouterr().err == ""


def test_what_is_said_is_no_markup_and_does_nothing_to_a_terminal(capsys):
    progress.say("[/] [red]a.png[/red] :smile: \x1b[31m\r")
    assert capsys.readouterr().err == "[/] [red]a.png[/red] :smile: \\x1b[31m\\r\n"


def test_the_words_of_a_bar_are_as_they_are(monkeypatch):
    drawn = io.StringIO()
    monkeypatch.setattr(progress, "console", terminal(file=drawn, force_terminal=True, width=90))
    with progress.progress_bar("[/] of {0} :smile: \a", 3) as advance:
        advance(3)
    with progress.drawn_bar() as bar:
        bar.add_task("training", total=3, state="[/] loss")
    assert "[/] of {0} :smile: \\x07" in drawn.getvalue()
    assert "[/] loss" in drawn.getvalue()
