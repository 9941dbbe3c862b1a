"""How drawing is compiled, helpers into their callers, entry points once and kept on disk; and spread
over threads."""

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numba


def helper(function: Callable[..., Any]) -> Any:
    """Compile a function that only other compiled functions call.

    No fastmath: sums stay in their order, so that a scene is the same on every machine.
    """
    return numba.njit(nogil=True, error_model="numpy")(function)


def entry(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls, and keep the machine code on disk.

    numba takes kept code for fresh as long as the function's own file is the same; here it is
    fresh only as long as every file of its folder and of this one is, since callees live there.
    """
    try:
        dispatcher: Any = numba.njit(nogil=True, error_model="numpy", cache=True)(function)
    except RuntimeError:  # no folder that can be written to: compile in each process
        return helper(function)
    index: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if not hasattr(index, "_source_stamp"):
        return helper(function)
    index._source_stamp = sources(Path(function.__code__.co_filename).parent)
    return dispatcher


def sources(folder: Path) -> str:
    """A hash of the code of a folder and of this one."""
    paths = sorted({*folder.glob("*.py"), *Path(__file__).parent.glob("*.py")})
    texts = [path.read_bytes() for path in paths]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def threads() -> int:
    """How many images are drawn at once: $NUMBA_NUM_THREADS, or every core."""
    return int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]


def spread(work: Callable[[int], object], over: Sequence[int], workers: int | None) -> None:
    """Do some compiled work for each number, on as many threads as there are cores."""
    workers = min(workers or threads(), max(len(over), 1))
    if workers == 1:
        for i in over:
            work(i)
        return
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(work, over):
            pass
