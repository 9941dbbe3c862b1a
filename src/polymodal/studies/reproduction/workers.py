"""Several rows at a time, each in a process of its own."""

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
    each: Callable[[T], None] = lambda made: None,
) -> list[T]:
    """Work on every task and give what comes of it in their order; several at a time where asked.
    `each` is told of what comes as it comes."""
    if processes == 1 or len(tasks) < 2:
        found = []
        for place, task in enumerate(tasks, 1):
            say(f"[{place} of {len(tasks)}] {task}")
            found.append(work(task))
            each(found[-1])
        return found
    context = get_context("spawn")  # CUDA does not survive a fork
    with ProcessPoolExecutor(processes, mp_context=context, initializer=start_worker) as pool:
        waiting = {pool.submit(work, task): task for task in tasks}
        say(f"{len(tasks)} rows, {processes} at a time; each is told of when it is done.")
        try:
            follow(waiting, each)
        except KeyboardInterrupt:
            stop_workers(pool)
            raise
        return [future.result() for future in waiting]


def stop_workers(pool: ProcessPoolExecutor) -> None:
    """Stop at once, whatever is under way: a run may be killed at any step, and the same command goes on."""
    pool.shutdown(wait=False, cancel_futures=True)
    for process in active_children():
        process.terminate()


def follow(waiting: Mapping["Future[Any]", Task], each: Callable[[Any], None]) -> None:
    """Say what is finished as it comes; what failed is told at the end, when the rest is safe."""
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
    """A process of many: one thread, no bars that would tear each other, and an end with its parent."""
    import torch

    torch.set_num_threads(1)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    threading.Thread(target=exit_with_parent, daemon=True).start()


def exit_with_parent() -> None:
    """End when the process that asked is gone, killed perhaps: else its rows would be trained on, beside
    those of the command that goes on with them."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
