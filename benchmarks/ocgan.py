"""How many images a second OC-GAN is trained on, against its step written plainly; how long a picture takes.

    python benchmarks/ocgan.py --sgsm [--device cuda] [--out results.json]
    python benchmarks/ocgan.py --sgsm --operations
    OMP_NUM_THREADS=2 python benchmarks/ocgan.py --compose [--device cuda]
    python benchmarks/ocgan.py --size 32 --slim 16 --batch 4 --images 8 --steps 1 --rounds 1 --workers 0

A step is what training does for a batch: gather it, draw pictures, a step of the discriminators, one of
the generator with the perceptual loss and, with --sgsm, the scene-graph similarity loss. Ours takes
pictures that are kept on the device as bytes and rounds products to bf16; `float32` is the same without
rounding. The plain one is `plain_ocgan`: float32, maps as torch lays them out by itself, loops over the
objects of each picture, batches from the workers of a DataLoader. Before they are timed it is checked that
both have the same gradients. Pictures and boxes are noise: what is in them changes no time.

All are timed in turn, round after round; the ratio is the median over rounds. A round must be longer
than what the workers hold ready (two batches each).

With --operations nothing is timed: the operations of products and convolutions are counted, of a step and
of one without each of the losses that look through a frozen network. With --compose a generator of a
size to be shipped draws one picture of a layout, and many, with weights at random, which take as long.
"""

import argparse
import math
import statistics
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor
from torch.utils.data import TensorDataset
from torch.utils.flop_counter import FlopCounterMode

from plain_ocgan import PlainStep
from polymodal.base.hardware import products
from polymodal.data.columns import Each, Stored
from polymodal.data.layout_examples import LayoutBatch, LayoutExamples
from polymodal.data.layout_record import Layout
from polymodal.data.records import Dataset, Region
from polymodal.nn.picture_crops import full_precision
from polymodal.systems.layout import ocgan, sgsm
from polymodal.systems.layout.composing import BLOCK
from polymodal.systems.layout.layout_gan import LayoutGAN
from polymodal.training.system import Clock
from timing import as_trained, compared, from_host, parser, seconds, show, write

PLAIN, EXACT, OURS = "plain", "float32", "ours"
TARGET = 4.0
"""How many times faster than the plain step ours should be on an accelerator."""

COMPOSED = 150.0
"""Milliseconds that one picture of a layout may take on two cores."""

SHIPPED = {"width": 32, "norm_width": 64, "object_dim": 64}
"""Settings of a generator that is small enough to be shipped."""

CLASSES = 48
"""As many as drawn scenes have."""


def boxes_of(chance: np.random.Generator, count: int) -> np.ndarray:
    """Boxes anywhere, in sides of the picture, a fifth to a half of a side wide and high."""
    sides = chance.uniform(0.2, 0.5, (count, 2))
    low = chance.uniform(0, 1 - sides)
    return np.concatenate([low, low + sides], 1)


def noise(options: argparse.Namespace) -> Dataset:
    """Pictures of noise with three to eight objects, as the field's layouts have."""
    chance, size = np.random.default_rng(0), options.size
    layouts = []
    for _ in range(options.images):
        boxes = (boxes_of(chance, int(chance.integers(3, 9))) * size).tolist()
        kinds = chance.integers(CLASSES, size=len(boxes)).tolist()
        layouts.append(
            tuple(Region(f"class {k:02}", tuple(b)) for k, b in zip(kinds, boxes, strict=True))
        )
    pictures = chance.integers(256, size=(options.images, size, size, 3), dtype=np.uint8)
    return Dataset({"image": Stored(pictures), "layout": Each.of(layouts)}, fingerprint="noise")


# Systems


def settings(options: argparse.Namespace, **given: Any) -> ocgan.Config:
    """The settings of the command line, or others, numbers of maps divided by --slim."""
    usual = {"perceptual": options.perceptual} | given
    plain = ocgan.Config()
    widths = ("width", "norm_width", "object_dim", "mask_width", "patch_width", "object_width")
    slim = {name: max(1, usual.get(name, getattr(plain, name)) // options.slim) for name in widths}
    return ocgan.Config(**usual | slim)


def built(train: Dataset, options: argparse.Namespace, **given: Any) -> LayoutGAN:
    """A system in training, with its frozen networks."""
    torch.manual_seed(0)
    config = settings(options, **given)
    system = ocgan.build(config, ocgan.learn(config, train))
    system.start(train)
    if options.sgsm and given.get("lambda_sgsm") != 0:
        weights, learned = matching(train, options)
        system.take("sgsm", weights, learned)
    system.clock = Clock(0, 1000)
    system = system.to(options.device).train()
    system.on_fit_start()
    return system


def matching(train: Dataset, options: argparse.Namespace) -> tuple[dict[str, Tensor], Any]:
    """A scene-graph similarity module that has learned nothing, as `train sgsm` would keep it."""
    maps = max(8, 32 // options.slim)
    config = sgsm.Config(convnet_width=maps, dim=256 // options.slim, hidden=128 // options.slim)
    learned = sgsm.learn(config, train)
    return sgsm.build(config, learned).state_dict(), learned


# Steps


def our_step(
    system: Any, batches: Iterator[LayoutBatch], optimizers: list[Any], fast: bool
) -> Callable[[], Any]:
    """The system's own step without a trainer; rounded where it is to be fast."""
    system._trainer = SimpleNamespace(optimizers=optimizers)
    system.optimizers = lambda: optimizers
    system.manual_backward = Tensor.backward

    def step() -> Any:
        batch = next(batches)
        with (
            products("high" if fast else "highest"),
            torch.autocast(system.device.type, torch.bfloat16, enabled=fast),
        ):
            return system.training_step(batch, 0)["shown"]

    return step


def loaded(examples: LayoutExamples, options: argparse.Namespace) -> Iterator[LayoutBatch]:
    """The same examples from a DataLoader over the host's memory."""
    every = examples.batch(np.arange(len(examples)))
    names = tuple(vars(every))
    held = TensorDataset(*(value.contiguous() for value in vars(every).values()))
    for values in from_host(held, options):
        yield LayoutBatch(**dict(zip(names, values, strict=True)))


def steps_of(options: argparse.Namespace) -> dict[str, Callable[[], Any]]:
    """The plain step, ours in float32, and ours."""
    train = noise(options)
    systems = {name: built(train, options) for name in (PLAIN, EXACT, OURS)}
    examples = systems[PLAIN].examples(train)
    resident = examples.resident(torch.device(options.device))
    steps: dict[str, Callable[[], Any]] = {}
    for name, system in systems.items():
        adams = system.configure_optimizers()
        if name == PLAIN:
            steps[name] = PlainStep(system, loaded(examples, options), adams)
        else:
            batches = as_trained(resident, options.batch)
            steps[name] = our_step(system, batches, adams, fast=name == OURS)
    return steps


# That both are the same


def check_same(options: argparse.Namespace) -> None:
    """Refuse to time two steps of which one does not do what the other does."""
    train = noise(options)
    found = {name: lengths(name, train, options) for name in (PLAIN, EXACT)}
    for part, own in found[PLAIN].items():
        if not math.isclose(own, found[EXACT][part], rel_tol=1e-3):
            raise SystemExit(f"The steps do not have the same gradients: {found}.")


def lengths(name: str, train: Dataset, options: argparse.Namespace) -> dict[str, float]:
    """How long the gradients of both networks are at the first step, which moves nothing."""
    system = built(train, options)
    parts = {"discriminators": system.discriminators, "generator": system.generator}
    still = [torch.optim.SGD(part.parameters(), 0.0) for part in parts.values()]
    batch = system.examples(train).batch(np.arange(options.batch))
    torch.manual_seed(1)
    with full_precision(system.device):
        if name == PLAIN:
            PlainStep(system, iter([batch]), still)()
        else:
            our_step(system, iter([batch.to(options.device)]), still, fast=False)()
    return {part: length(network) for part, network in parts.items()}


def length(network: torch.nn.Module) -> float:
    """That of all gradients of a network as one vector."""
    each = [p.grad.flatten() for p in network.parameters() if p.grad is not None]
    return torch.cat(each).norm().item()


# Operations


def counted(options: argparse.Namespace) -> dict[str, Any]:
    """The operations of a step for an image, in thousand millions, and those of steps without a part."""
    train = noise(options)
    without: dict[str, dict[str, Any]] = {"ours": {}, "no perceptual loss": {"lambda_p": 0.0}}
    if options.sgsm:
        without["no SGSM"] = {"lambda_sgsm": 0.0}
    spent = {}
    for name, given in without.items():
        system = built(train, options, **given)
        resident = system.examples(train).resident(torch.device(options.device))
        batches = as_trained(resident, options.batch)
        step = our_step(system, batches, system.configure_optimizers(), fast=False)
        with FlopCounterMode(display=False) as counter:
            step()
        spent[name] = counter.get_total_flops() / 1e9 / options.batch
    return {
        "rows": [
            {"name": name, "metrics": {"operations": own, "share": own / spent["ours"]}}
            for name, own in spent.items()
        ]
    }


def show_counted(found: dict[str, Any]) -> None:
    """Print the table of operations."""
    table = Table("step", "thousand million operations an image", "share")
    for row in found["rows"]:
        own = row["metrics"]
        table.add_row(row["name"], f"{own['operations']:.3f}", f"{100 * own['share']:.0f} %")
    Console().print(table)


# Composing


def composed(options: argparse.Namespace) -> dict[str, Any]:
    """How long `compose` takes for a picture of a layout, and for a block of them."""
    labels = tuple(f"class {kind:02}" for kind in range(CLASSES))
    torch.manual_seed(0)
    model = ocgan.build(settings(options, **SHIPPED), {"classes": labels, "size": options.size}).to(
        options.device
    )
    boxes = boxes_of(np.random.default_rng(0), options.objects).astype(np.float32)
    layout = Layout(labels[: options.objects], boxes)
    rows = []
    for name, count in (("one picture", 1), (f"{BLOCK} pictures", BLOCK)):

        def draw(count: int = count) -> None:
            model.compose(layout, count=count)

        draw()  # for warming up
        spent = [seconds(draw, options.steps, options.device) for _ in range(options.rounds)]
        middle = statistics.median(spent)
        metrics = {"milliseconds": 1000 * middle, "fastest": 1000 * min(spent)}
        rows.append({"name": name, "metrics": metrics | {"images_a_second": count / middle}})
    return {"rows": rows, "target": COMPOSED}


def show_composed(found: dict[str, Any], options: argparse.Namespace) -> None:
    """Print the table."""
    title = (
        f"A layout of {options.objects} objects at {options.size}×{options.size}, {options.device}"
    )
    table = Table(title=f"{title}, {torch.get_num_threads()} threads")
    for heading in ("compose", "ms", "fastest", "images/s"):
        table.add_column(heading, justify="left" if heading == "compose" else "right")
    for row in found["rows"]:
        own = row["metrics"]
        told = (f"{own[key]:.1f}" for key in ("milliseconds", "fastest", "images_a_second"))
        table.add_row(row["name"], *told)
    console = Console()
    console.print(table)
    one = found["rows"][0]["metrics"]["milliseconds"]
    console.print(f"One picture takes {one:.0f} ms (target < {found['target']:g} on two cores)")


def main() -> None:
    """Measure, print, write."""
    flags = parser(__doc__.splitlines()[0], size=64, batch=64)
    flags.set_defaults(images=1024, steps=20, compile=False)
    flags.add_argument("--slim", type=int, default=1, help="what numbers of maps are divided by")
    flags.add_argument("--perceptual", default="efficientnet-lite0", help="see train ocgan --help")
    flags.add_argument("--sgsm", action="store_true", help="with the scene-graph similarity loss")
    only = flags.add_mutually_exclusive_group()
    only.add_argument("--operations", action="store_true", help="count them, in place of timing")
    only.add_argument("--compose", action="store_true", help="time pictures in place of training")
    flags.add_argument("--objects", type=int, default=4, help="of the layout that is composed")
    options = flags.parse_args()
    if options.operations:
        found = counted(options)
        show_counted(found)
    elif options.compose:
        found = composed(options)
        show_composed(found, options)
    else:
        check_same(options)
        found = compared(steps_of(options), OURS, PLAIN, TARGET, options.batch, options)
        show(found, OURS, PLAIN, options)
    write("ocgan", found, options)


if __name__ == "__main__":
    main()
