"""The one door to the terminal: text from outside is never markup, and no control character passes."""

import io
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:  # slow to come
    from rich.console import Console

HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but the line break, those that reverse the text beside them, and halves of characters
(of file names that are no UTF-8)."""


def printable(text: str) -> str:
    r"""Text that shows what it holds and does nothing to a terminal.

    >>> printable("red\x1b[31m\r")
    'red\\x1b[31m\\r'
    """
    return HIDDEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def tell(text: str) -> None:
    """Print a result."""
    print(printable(text))


def complain(text: str) -> None:
    """Print why there is none."""
    print(printable(text), file=sys.stderr)


def terminal(**how: Any) -> "Console":
    """What draws tables and bars, and takes their text as it is: whoever gives it text makes it printable."""
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False, **how)


@contextmanager
def harmless(arguments: Sequence[str]) -> Iterator[None]:
    """What other libraries print while a command runs is harmless too: parsers quote arguments."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
            stream.reconfigure(errors="backslashreplace")
    safe = all(printable(argument) == argument for argument in arguments)
    with nullcontext() if safe else redirect_stderr(Printable(sys.stderr)):
        yield


class Printable(io.TextIOBase):
    """A stream that makes printable what others write to it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(printable(text))
        return len(text)

    def flush(self) -> None:
        self.stream.flush()
