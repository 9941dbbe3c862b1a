"""How many images a second a VLVAE is trained on, against the same step written plainly.

    python benchmarks/vlvae.py [--device cuda] [--out results.json]
    python benchmarks/vlvae.py --size 32 --batch 16 --steps 2 --rounds 2 --images 64 --workers 1

A step is what training does for a batch: gather it, forward, backward, clip, Adam. Ours takes
pictures that are kept on the device as bytes, rounds the convolutions to bf16, channels last, and
other products to TF32, compiles all that, and plays each step as a recorded graph. The plain one is
the same model and loss in float32, not compiled, its maps laid out as torch has them by itself, with
torch's own instance norm, its batches put together by the workers of a DataLoader from the same
pictures in memory. Stage two learns the densities with the model frozen, as ours.

The three are timed in turn, round after round, so that a busy machine slows all alike; the ratio is
the median over rounds. A round must be longer than what the workers hold ready (two batches each).
How busy the device is: the time of all its kernels in profiled steps over the time of such steps when
nobody looks on.
"""

import argparse
import itertools
import os
import shlex
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch.autograd import DeviceType
from torch.utils.data import DataLoader, TensorDataset

from polymodal import files
from polymodal.data import worlds
from polymodal.data.loading import Batches, Order
from polymodal.data.sayings import ResidentSayings, SayingBatch, Sayings, words_of
from polymodal.hardware import hardware, products
from polymodal.nn.residual import InstanceNorm
from polymodal.runs import versions
from polymodal.systems import vlvae
from polymodal.systems.vlvae.system import VLVAE
from polymodal.training import Training, compile_parts
from timing import seconds

PLAIN, FIRST, SECOND = "plain", "stage one", "stage two"
TARGET = 4.0
WORKERS = min(8, os.cpu_count() or 1)
FOREVER = 10**9


@dataclass
class Clock:
    """As much of a trainer as a step asks for: which step it is, of how many."""

    global_step: int
    max_steps: int = 1000
    world_size: int = 1


def built(sayings: Sayings, clock: Clock, device: str) -> VLVAE:
    """A system with the defaults of the command line, in training."""
    torch.manual_seed(0)
    config = vlvae.Config()
    system = vlvae.build(config, vlvae.learn(config, sayings.dataset))
    system.trainer = clock
    return system.to(device).train()


def make_plain(model: torch.nn.Module) -> None:
    """Torch's own layout and instance norm."""
    model.to(memory_format=torch.contiguous_format)
    for module in list(model.modules()):
        for name, part in module.named_children():
            if isinstance(part, InstanceNorm):
                setattr(module, name, torch.nn.InstanceNorm2d(0))  # which needs no number of maps


def ours(resident: ResidentSayings, batch: int) -> Iterator[SayingBatch]:
    """Batches as training has them."""
    order = Order(examples=len(resident), batch_size=batch, seed=0)
    return iter(Batches(resident, order, first=0, last=FOREVER, rank=0, world=1))


def loaded(resident: ResidentSayings, options: argparse.Namespace) -> Iterator[SayingBatch]:
    """The same pictures from a DataLoader over the host's memory, one by one."""
    pictures = resident.images.cpu().permute(0, 3, 1, 2).contiguous()
    loader = DataLoader(
        TensorDataset(pictures, resident.texts.cpu()),
        batch_size=options.batch,
        shuffle=True,
        drop_last=True,
        num_workers=options.workers,
        pin_memory=options.device == "cuda",
        persistent_workers=options.workers > 0,
    )
    for images, texts in itertools.chain.from_iterable(itertools.repeat(loader)):
        yield SayingBatch(images, texts).to(options.device, non_blocking=True)


def descent(system: VLVAE, batches: Iterator[SayingBatch], fast: bool) -> Callable[[], None]:
    """One step: a batch, forward, backward, clip, Adam; rounded where it is to be fast."""
    adam = system.configure_optimizers()["optimizer"]
    clip = Training().clip

    def step() -> None:
        batch = next(batches)
        system.optimizer_zero_grad(0, 0, adam)
        with products("high" if fast else "highest"):
            with torch.autocast(system.device.type, torch.bfloat16, enabled=fast):
                loss = system.training_step(batch, 0)["loss"]
            system.backward(loss)
        system.configure_gradient_clipping(adam, clip)
        adam.step()

    return step


def kernel_seconds(step: Callable[[], None], count: int, device: str) -> float | None:
    """How long the device works for a step, copies among it; None on a processor, which has no kernels."""
    if device != "cuda":
        return None
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        seconds(step, count, device)
    kernels = (  # an annotation, such as Adam's own, spans kernels that are counted already
        event.self_device_time_total
        for event in seen.key_averages()
        if event.device_type == DeviceType.CUDA and not event.is_user_annotation
    )
    return sum(kernels) / 1e6 / count


def measure_all(options: argparse.Namespace) -> dict[str, Any]:
    """Images a second of each step, how busy the device is, and the ratio, medians over rounds."""
    world = worlds.named("two-objects", size=options.size, train=options.images, val=0)
    train = world.splits()["train"]
    sayings = Sayings(train, words_of(train))
    resident = sayings.resident(torch.device(options.device))
    clocks = {PLAIN: Clock(0), FIRST: Clock(0), SECOND: Clock(999)}
    systems = {name: built(sayings, clock, options.device) for name, clock in clocks.items()}
    make_plain(systems[PLAIN].model)
    if options.compile:
        for name in (FIRST, SECOND):
            compile_parts(systems[name])
    steps = {
        name: descent(
            system,
            loaded(resident, options) if name == PLAIN else ours(resident, options.batch),
            fast=name != PLAIN,
        )
        for name, system in systems.items()
    }
    rounds = []
    for _ in range(options.rounds + 1):
        rounds.append({k: seconds(v, options.steps, options.device) for k, v in steps.items()})
    rounds = rounds[1:]  # the first was for warming up
    ratios = [now[PLAIN] / now[FIRST] for now in rounds]
    return {
        "rows": [row(name, steps[name], rounds, options) for name in steps],
        "ratio": statistics.median(ratios),
        "ratios": ratios,
        "target": TARGET,
    }


def row(
    name: str, step: Callable[[], None], rounds: list[dict[str, float]], options: argparse.Namespace
) -> dict[str, Any]:
    """The figures of one step."""
    spent = [now[name] for now in rounds]
    middle = statistics.median(spent)
    kernels = kernel_seconds(step, min(options.steps, 20), options.device)
    metrics = {
        "images_a_second": options.batch / middle,
        "fastest": options.batch / min(spent),
        "seconds": middle,
        "kernel_seconds": kernels,
        "busy": None if kernels is None else 100 * kernels / middle,
    }
    return {"name": name, "metrics": metrics}


def show(found: dict[str, Any], options: argparse.Namespace) -> None:
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
        f"Stage one / plain: {found['ratio']:.2f} ×, from {low:.2f} to {high:.2f} (target ≥ {TARGET:g})"
    )


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--size", type=int, default=112, help="pixels of a side")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--images", type=int, default=4096, help="pictures to train on")
    parser.add_argument(
        "--workers", type=int, default=WORKERS, help="of the plain step's DataLoader"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=60, help="steps of each a round")
    parser.add_argument("--no-compile", dest="compile", action="store_false")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found = measure_all(options)
    show(found, options)
    if options.out:
        names = ("device", "size", "batch", "images", "workers", "rounds", "steps", "compile")
        protocol = {name: getattr(options, name) for name in names}
        protocol["tf32"] = torch.backends.cudnn.allow_tf32  # of the plain step's convolutions
        told = {"study": "vlvae", "command": shlex.join(["python", *sys.argv])}
        told |= {"hardware": hardware(), "versions": versions(), "protocol": protocol}
        files.write_json(options.out, told | found)


if __name__ == "__main__":
    main()
