"""What goes out to a terminal: text from outside does nothing there, and there is one door."""

import ast
import io
import sys
from pathlib import Path

import pytest

import polymodal
from polymodal.base.printing import complain, harmless, printable, tell

HOSTILE = "red\x1b[31m\r\x07\x9b2J\u202e[/] [sic] :smile:\udcff"
SHOWN = r"red\x1b[31m\r\x07\x9b2J\u202e[/] [sic] :smile:\udcff"

ROOT = Path(polymodal.__file__).parent
DOOR = "base/printing.py"


def test_what_does_something_to_a_terminal_is_shown_as_python_writes_it():
    assert printable(HOSTILE) == SHOWN
    harmless = "één ✓ “a—b”\n日本 עברית 👩🏽‍🚀"
    assert printable(harmless) == harmless


def test_results_and_errors_are_printable(capsys):
    tell(HOSTILE)
    complain(HOSTILE)
    assert capsys.readouterr() == (f"{SHOWN}\n", f"{SHOWN}\n")


def test_a_terminal_that_knows_few_characters_is_no_error(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    with harmless([]):
        tell("“one”")
    stream.flush()
    assert stream.buffer.getvalue() == b"\\u201cone\\u201d\n"


def test_what_others_say_of_arguments_is_printable(capsys):
    with harmless(["search", HOSTILE]):
        print(f"unknown: {HOSTILE}", file=sys.stderr)
    with harmless(["search"]):
        print("\x1b[31mred\x1b[0m", file=sys.stderr)
    assert capsys.readouterr().err == f"unknown: {SHOWN}\n\x1b[31mred\x1b[0m\n"


def other_doors(source: str) -> list[str]:
    """The calls of a module that print past the door."""
    found = []
    for node in ast.walk(ast.parse(source)):
        name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if name in ("print", "Console", "rich.print") or name.startswith(
            ("sys.stdout.write", "sys.stderr.write")
        ):
            found.append(name)
    return found


def test_nothing_is_printed_past_the_door():
    sources = {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in ROOT.rglob("*.py")
    }
    found = {name: doors for name, source in sources.items() if (doors := other_doors(source))}
    assert found.keys() == {DOOR}


@pytest.mark.parametrize("code", ["print(1)", "Console()", "def f():\n    sys.stderr.write('a')"])
def test_other_doors_are_found(code):
    assert other_doors(code)
    assert not other_doors("def f():\n    '''>>> print(1)'''\n    table.print()")
