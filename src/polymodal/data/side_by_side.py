"""Many files read beside each other, in their order."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from polymodal.base.progress import progress_bar
from polymodal.data import image_files

One = TypeVar("One")
Found = TypeVar("Found")


@contextlib.contextmanager
def each_read(
    read: Callable[[One], Found], wanted: Sequence[One], title: str, *, progress: bool
) -> Iterator[Iterator[tuple[One, Found]]]:
    """Each of those wanted with what is read of it; when the block is left early, what has not begun is
    not read.

    Args:
        read: what is done in threads.
        wanted: what is read.
        title: of the bar.
        progress: show a bar.
    """
    with (
        ThreadPoolExecutor(image_files.threads(len(wanted))) as pool,
        progress_bar(title, len(wanted), shown=progress, transient=True) as advance,
        contextlib.ExitStack() as stack,
    ):
        stack.callback(pool.shutdown, cancel_futures=True)

        def told() -> Iterator[tuple[One, Found]]:
            for one, found in zip(wanted, pool.map(read, wanted), strict=True):
                advance(1)
                yield one, found

        yield told()
