"""How far something is that takes a while."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from polymodal.progress import PAUSE, console

T = TypeVar("T")


def watched(items: Sequence[T], title: str) -> Iterable[T]:
    """The same items under a bar, or where there is no terminal to draw one on, with a line now and then."""
    from rich.progress import track

    if console.is_terminal:
        return track(items, title, console=console, transient=True)
    return told(items, title)


def told(items: Sequence[T], title: str) -> Iterator[T]:
    """The same items, with a line of how many are done whenever a while has passed."""
    last = time.monotonic()
    for done, item in enumerate(items):
        if time.monotonic() - last >= PAUSE:
            console.print(f"{title}: {done} of {len(items)}", highlight=False)
            last = time.monotonic()
        yield item
