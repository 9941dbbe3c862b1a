"""Several rows in parallel, each in its own process."""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import active_children, get_context, parent_process
from typing import Any, TypeVar

from polymodal.base.errors import PolymodalError
from polymodal.base.progress import say
from polymodal.studies.reproduction.tasks import Task

T = TypeVar("T")


def run_all(
    work: Callable[[Task], T],
    tasks: Sequence[Task],
    processes: int,
    each: Callable[[T], None] = lambda result: None,
) -> list[T]:
    """The result of every task, in their order; several tasks run in parallel if asked. `each` is called
    with every result as soon as it is there."""
    if processes == 1 or len(tasks) < 2:
        results = []
        for place, task in enumerate(tasks, 1):
            say(f"[{place} of {len(tasks)}] {task}")
            results.append(work(task))
            each(results[-1])
        return results
    context = get_context("spawn")  # CUDA does not survive a fork
    with ProcessPoolExecutor(processes, mp_context=context, initializer=start_worker) as pool:
        waiting = {pool.submit(work, task): task for task in tasks}
        say(f"{len(tasks)} rows, {processes} at a time; a line is printed when each is done.")
        try:
            follow(waiting, each)
        except KeyboardInterrupt:
            stop_workers(pool)
            raise
        return [future.result() for future in waiting]


def stop_workers(pool: ProcessPoolExecutor) -> None:
    """Stop the workers at once: a run may be killed at any step, and the same command resumes it."""
    pool.shutdown(wait=False, cancel_futures=True)
    for process in active_children():
        process.terminate()


def follow(waiting: Mapping["Future[Any]", Task], each: Callable[[Any], None]) -> None:
    """Print each task when it is done; raise the failures at the end, when all others are finished."""
    failed: list[str] = []
    for place, future in enumerate(as_completed(waiting), 1):
        error = future.exception()
        label = str(waiting[future])
        if error:
            failed.append(f"{label}: {type(error).__name__}: {error}")
        else:
            each(future.result())
        say(f"[{place} of {len(waiting)}] {'FAILED' if error else 'done'}: {label}")
    if failed:
        raise PolymodalError(
            f"{len(failed)} of {len(waiting)} rows failed; the others are kept, and the same command "
            "goes on:\n  " + "\n  ".join(failed)
        )


def start_worker() -> None:
    """Set up a worker: one thread, no output of its own, and it ends with its parent."""
    import torch

    torch.set_num_threads(1)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    threading.Thread(target=exit_with_parent, daemon=True).start()


def exit_with_parent() -> None:
    """End when the parent process is gone, perhaps killed: else the worker would go on training rows that
    the repeated command trains too."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
