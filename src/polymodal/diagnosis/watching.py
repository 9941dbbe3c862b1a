"""A bar over whatever takes a while."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from polymodal.progress import console

T = TypeVar("T")


def watched(items: Sequence[T], title: str) -> Iterable[T]:
    """The same items under a bar, where there is a terminal to draw one on."""
    from rich.progress import track

    return track(items, title, console=console, transient=True, disable=not console.is_terminal)
