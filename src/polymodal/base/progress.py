"""What a user is told while something goes on: messages, and how far long work is."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from polymodal.base.printing import printable, terminal

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")

PAUSE = 30.0
"""Seconds between lines where there is no terminal to draw a bar on."""

console = terminal(stderr=True)
"""Where all that is not a result goes; a bar and messages share it, so that neither tears the other."""


def say(message: str) -> None:
    """Tell the user something, as it is: once, however many processes train together."""
    if os.environ.get("LOCAL_RANK", "0") == "0":
        console.print(printable(message), soft_wrap=True)


@contextmanager
def progress_bar(
    title: str, total: int, *, shown: bool = True, transient: bool = False
) -> Iterator[Callable[[int], None]]:
    """A bar that is told how many more are done; without a terminal, a line now and then."""
    if not console.is_terminal:
        yield lines(title, total) if shown else lambda count: None
        return
    with drawn_bar(disable=not shown, transient=transient) as bar:
        task = bar.add_task(printable(title), total=total, state="")
        yield lambda count: bar.advance(task, count)


def drawn_bar(**how: Any) -> "Progress":
    """A bar whose tasks have a title and a `state`: what is told of them beside how many are done."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[state]}", markup=False),
        console=console,
        **how,
    )


def lines(title: str, total: int) -> Callable[[int], None]:
    """Says how many are done whenever a while has passed."""
    done, last = 0, time.monotonic()

    def advance(count: int) -> None:
        nonlocal done, last
        done += count
        if time.monotonic() - last >= PAUSE:
            say(f"{title}: {done} of {total}")
            last = time.monotonic()

    return advance


def watched(items: Sequence[T], title: str) -> Iterable[T]:
    """The same items, and how many of them are done."""
    with progress_bar(title, len(items), transient=True) as advance:
        for item in items:
            yield item
            advance(1)


@cache
def say_once(message: str) -> None:
    """Tell the user something, however often it is met, once."""
    say(message)
