"""How long a step takes, for the benchmarks of training: timed in turn, told and written alike."""

import argparse
import itertools
import math
import os
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch.autograd import DeviceType
from torch.utils.data import DataLoader

from polymodal.base import files
from polymodal.base.hardware import hardware, products
from polymodal.base.version import versions
from polymodal.data.batch_order import Batches, Order

FOREVER = 10**9
WORKERS = min(8, os.cpu_count() or 1)


def seconds(step: Callable[[], None], count: int, device: str) -> float:
    """How long a step takes, to the end of what the device was given to do."""
    if device == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        step()
    if device == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - start) / count


def kernel_seconds(step: Callable[[], None], count: int, device: str) -> float | None:
    """How long the device works for a step, copies among it; None on a processor, which has no kernels."""
    if device != "cuda":
        return None
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        seconds(step, count, device)
    spans = (  # an annotation, such as Adam's own, spans kernels and what lies between
        (event.time_range.start, event.time_range.end)
        for event in seen.events()
        if event.device_type == DeviceType.CUDA and not event.is_user_annotation
    )
    return covered(spans) / 1e6 / count


def covered(spans: Iterable[tuple[float, float]]) -> float:
    """How long at least one of several spans lasts: kernels may run beside each other.

    >>> covered([(3, 4), (0, 2), (1, 2.5)])
    3.5
    """
    found, reached = 0.0, -math.inf
    for start, end in sorted(spans):
        found += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return found


def as_trained(examples: Any, batch: int) -> Iterator[Any]:
    """Batches as training has them."""
    order = Order(examples=len(examples), batch_size=batch, seed=0)
    return iter(Batches(examples, order, first=0, last=FOREVER, rank=0, world=1))


def from_host(dataset: Any, options: argparse.Namespace) -> Iterator[Any]:
    """Batches that the workers of a DataLoader put together from the host's memory, without end."""
    loader: DataLoader[Any] = DataLoader(
        dataset,
        batch_size=options.batch,
        shuffle=True,
        drop_last=True,
        num_workers=options.workers,
        pin_memory=options.device == "cuda",
        persistent_workers=options.workers > 0,
    )
    return itertools.chain.from_iterable(itertools.repeat(loader))


def descent(
    system: Any, batches: Iterator[Any], adam: Any, clip: Callable[[], Any], fast: bool
) -> Callable[[], None]:
    """One step: a batch, forward, backward, clip, Adam; rounded where it is to be fast."""

    def step() -> None:
        batch = next(batches)
        system.optimizer_zero_grad(0, 0, adam)
        with products("high" if fast else "highest"):
            with torch.autocast(system.device.type, torch.bfloat16, enabled=fast):
                loss = system.training_step(batch, 0)["loss"]
            system.backward(loss)
        clip()
        adam.step()

    return step


def compared(
    steps: Mapping[str, Callable[[], None]],
    ours: str,
    plain: str,
    target: float,
    images: int,
    options: argparse.Namespace,
) -> dict[str, Any]:
    """The figures of each step, of so many images, and how many times faster ours is than the plain one:
    medians over rounds in which each is timed in turn, so that a busy machine slows all alike."""
    rounds = [
        {name: seconds(step, options.steps, options.device) for name, step in steps.items()}
        for _ in range(options.rounds + 1)
    ][1:]  # the first was for warming up
    ratios = [now[plain] / now[ours] for now in rounds]
    spent = {name: [now[name] for now in rounds] for name in steps}
    return {
        "rows": [
            {"name": name, "metrics": figures(step, spent[name], images, options)}
            for name, step in steps.items()
        ],
        "ratio": statistics.median(ratios),
        "ratios": ratios,
        "target": target,
    }


def figures(
    step: Callable[[], None], spent: list[float], images: int, options: argparse.Namespace
) -> dict[str, float | None]:
    """The figures of one step: how busy the device is, is the time of its kernels in profiled steps
    over the time of such steps when nobody looks on."""
    middle = statistics.median(spent)
    kernels = kernel_seconds(step, min(options.steps, 20), options.device)
    return {
        "images_a_second": images / middle,
        "fastest": images / min(spent),
        "seconds": middle,
        "kernel_seconds": kernels,
        "busy": None if kernels is None else 100 * kernels / middle,
    }


def show(found: dict[str, Any], ours: str, plain: str, options: argparse.Namespace) -> None:
    """Print the table."""
    table = Table(
        title=f"Batches of {options.batch} of {options.size}×{options.size}, {options.device}"
    )
    for heading in ("step", "images/s", "fastest", "ms", "busy"):
        table.add_column(heading, justify="left" if heading == "step" else "right")
    for name, f in ((r["name"], r["metrics"]) for r in found["rows"]):
        busy = "not measured" if f["busy"] is None else f"{f['busy']:.0f} %"
        speed = (
            f"{f['images_a_second']:,.0f}",
            f"{f['fastest']:,.0f}",
            f"{1000 * f['seconds']:.2f}",
        )
        table.add_row(name, *speed, busy)
    console = Console()
    console.print(table)
    if options.device != "cuda":
        console.print("How busy the device is can be seen on CUDA alone.")
    low, high = min(found["ratios"]), max(found["ratios"])
    console.print(
        f"{ours.capitalize()} / {plain}: {found['ratio']:.2f} ×, from {low:.2f} to {high:.2f} "
        f"(target ≥ {found['target']:g})"
    )


def parser(about: str, *, size: int, batch: int) -> argparse.ArgumentParser:
    """The flags that all benchmarks of training have."""
    found = argparse.ArgumentParser(description=about)
    found.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    found.add_argument("--size", type=int, default=size, help="pixels of a side")
    found.add_argument("--batch", type=int, default=batch)
    found.add_argument("--images", type=int, default=4096, help="pictures to train on")
    found.add_argument(
        "--workers", type=int, default=WORKERS, help="of the plain step's DataLoader"
    )
    found.add_argument("--rounds", type=int, default=5)
    found.add_argument("--steps", type=int, default=60, help="steps of each a round")
    found.add_argument("--no-compile", dest="compile", action="store_false")
    found.add_argument("--out", type=Path)
    return found


def write(study: str, found: dict[str, Any], options: argparse.Namespace) -> None:
    """Write what was found where it is asked for, with all that it depends on."""
    if not options.out:
        return
    protocol = {name: value for name, value in vars(options).items() if name != "out"}
    protocol["tf32"] = torch.backends.cudnn.allow_tf32  # of the plain step's convolutions
    told = {"study": study, "command": shlex.join(["python", *sys.argv])}
    told |= {"hardware": hardware(), "versions": versions(), "protocol": protocol}
    files.write_json(options.out, told | found)
