"""What the bounds of CMIM cost: a training step with them against the same step without.

    python benchmarks/cmim.py [--device cuda] [--out results.json]
    python benchmarks/cmim.py --size 32 --batch 4 --width 8 --levels 3 --images 16 --steps 1 --rounds 1
    python benchmarks/cmim.py --operations --batch 5 --images 10

A step is what training does for a batch: gather it, augment, encode every modality, decode each alone and
all together, the losses, backward, clip, Adam. Both steps have the same slices in the same order, of noise:
what is in them changes no time. They are timed in turn, round after round; the ratio is the median over
rounds. Slices a second count each slice once, whatever its number of modalities.

With --operations nothing is timed: the operations of products and convolutions are counted, which are the
same on every machine and, for each slice, in every batch of more than four, the usual number of negatives.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch.utils.flop_counter import FlopCounterMode

from polymodal.data.columns import Stored
from polymodal.data.records import Dataset
from polymodal.systems.medical import cmim
from polymodal.training.system import Clock
from polymodal.training.training_config import Training
from timing import as_trained, compared, descent, parser, write

WITH, WITHOUT = "with bounds", "without bounds"
WIDE = "with bounds, critics of 512"
TARGET = 1.5
"""How many times the step without bounds a step with them may take."""


def noise(options: argparse.Namespace) -> Dataset:
    """Slices of noise with a square to find."""
    chance = np.random.default_rng(0)
    side = options.size
    mask = np.zeros((options.images, side, side), np.uint8)
    mask[:, side // 4 : side // 2, side // 4 : side // 2] = 1
    columns: dict[str, Any] = {"mask": Stored(mask)}
    for name in options.modalities:
        values = chance.normal(size=(options.images, 1, side, side)).astype(np.float32)
        columns[name] = Stored(values)
    return Dataset(columns, fingerprint=f"noise {options.images} {side} {options.modalities}")


def step_of(
    train: Dataset, weight: float, options: argparse.Namespace, hidden: int | None = None
) -> Callable[[], None]:
    """A step of CMIM with this weight of the local–local bounds, and critics as wide as asked for."""
    torch.manual_seed(0)
    config = cmim.Config(
        width=options.width,
        levels=options.levels,
        dice_weight=0.5,
        lambda_ll=weight,
        critic_hidden=hidden,
    )
    system = cmim.build(config, cmim.learn(config, train))
    system.start(train)
    system.clock = Clock(0, 1000)
    system = system.to(options.device).train()
    examples = system.examples(train)
    if options.device == "cuda":
        examples = examples.resident(torch.device(options.device))

    def clip() -> Any:
        torch.nn.utils.clip_grad_norm_(system.parameters(), Training().clip)

    batches = as_trained(examples, options.batch)
    return descent(system, batches, system.configure_optimizers(), clip, options.fast)


def counted(steps: dict[str, Callable[[], None]], batch: int) -> dict[str, Any]:
    """The operations of each step for a slice, in thousand millions, and how many times those of the
    step without bounds they are."""
    spent = {}
    for name, step in steps.items():
        with FlopCounterMode(display=False) as counter:
            step()
        spent[name] = counter.get_total_flops() / 1e9 / batch
    return {
        "rows": [
            {"name": name, "metrics": {"operations": own, "times": own / spent[WITHOUT]}}
            for name, own in spent.items()
        ],
        "target": TARGET,
    }


def show_counted(found: dict[str, Any]) -> None:
    """Print the table of operations."""
    table = Table("step", "thousand million operations a slice", "times that without bounds")
    for row in found["rows"]:
        own = row["metrics"]
        table.add_row(row["name"], f"{own['operations']:.2f}", f"{own['times']:.2f}")
    Console().print(table)


def show(found: dict[str, Any], options: argparse.Namespace) -> None:
    """Print the table."""
    table = Table(
        title=f"{len(options.modalities)} modalities, batches of {options.batch} slices of "
        f"{options.size}×{options.size}, {options.device}"
    )
    for heading in ("step", "slices/s", "ms", "busy"):
        table.add_column(heading, justify="left" if heading == "step" else "right")
    for row in found["rows"]:
        own = row["metrics"]
        busy = "not measured" if own["busy"] is None else f"{own['busy']:.0f} %"
        table.add_row(
            row["name"], f"{own['images_a_second']:.1f}", f"{1000 * own['seconds']:.1f}", busy
        )
    console = Console()
    console.print(table)
    low, high = min(found["ratios"]), max(found["ratios"])
    console.print(
        f"A step with bounds takes {found['ratio']:.2f} × one without, from {low:.2f} to {high:.2f} "
        f"(target ≤ {TARGET:g})"
    )


def main() -> None:
    """Measure, print, write."""
    flags = parser(__doc__.splitlines()[0], size=128, batch=32)
    flags.set_defaults(images=256, steps=4)
    flags.add_argument("--width", type=int, default=32, help="maps of the finest level")
    flags.add_argument("--levels", type=int, default=5)
    flags.add_argument("--modalities", nargs="+", default=["flair", "t1", "t1c"])
    flags.add_argument("--operations", action="store_true", help="count them, in place of timing")
    flags.add_argument("--fast", action="store_true", help="products rounded to bf16")
    options = flags.parse_args()
    train = noise(options)
    steps = {WITH: step_of(train, 0.1, options), WITHOUT: step_of(train, 0.0, options)}
    if options.operations:
        found = counted(steps | {WIDE: step_of(train, 0.1, options, hidden=512)}, options.batch)
        show_counted(found)
        write("cmim", found, options)
        return
    found = compared(steps, WITHOUT, WITH, TARGET, options.batch, options)
    show(found, options)
    write("cmim", found, options)


if __name__ == "__main__":
    main()
