"""How many images a second a VLVAE is trained on, against the same step written plainly.

    python benchmarks/vlvae.py [--device cuda] [--out results.json]
    python benchmarks/vlvae.py --size 32 --batch 16 --steps 2 --rounds 2 --images 64 --workers 1

A step is what training does for a batch: gather it, forward, backward, clip, Adam. Ours takes
pictures that are kept on the device as bytes, rounds the convolutions to bf16, channels last, and
other products to TF32, compiles all that, and plays each step as a recorded graph. The plain one is
the same model and loss in float32, not compiled, its maps laid out as torch has them by itself, with
torch's own convolutions and instance norm, its batches put together by the workers of a DataLoader
from the same pictures in memory. Stage two learns the densities with the model frozen, as ours.

The three are timed in turn, round after round; the ratio is the median over rounds. A round must be
longer than what the workers hold ready (two batches each).
"""

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.utils.data import TensorDataset

from polymodal.data.drawn import scenes as worlds
from polymodal.data.image_texts import ImageTextBatch, ImageTexts, words_of
from polymodal.nn.residual import Convolution, InstanceNorm
from polymodal.systems.vlvae import vlvae
from polymodal.systems.vlvae.vlvae_module import VLVAE
from polymodal.training.fitting import record_steps
from polymodal.training.system import Clock
from polymodal.training.training_config import Training
from timing import as_trained, compared, descent, from_host, parser, show, write

PLAIN, FIRST, SECOND = "plain", "stage one", "stage two"
TARGET = 4.0


def built(sayings: ImageTexts, clock: Clock, device: str) -> VLVAE:
    """A system with the defaults of the command line, in training."""
    torch.manual_seed(0)
    config = vlvae.Config()
    system = vlvae.build(config, vlvae.learn(config, sayings.dataset))
    system.clock = clock
    return system.to(device).train()


def make_plain(model: torch.nn.Module) -> None:
    """Torch's own layout, convolution and instance norm."""
    model.to(memory_format=torch.contiguous_format)
    for module in list(model.modules()):
        if isinstance(module, Convolution):
            module.forward = partial(torch.nn.Conv2d.forward, module)  # type: ignore[method-assign]
        for name, part in module.named_children():
            if isinstance(part, InstanceNorm):
                setattr(module, name, torch.nn.InstanceNorm2d(0))  # which needs no number of maps


def loaded(resident: ImageTexts, options: argparse.Namespace) -> Iterator[ImageTextBatch]:
    """The same pictures from a DataLoader over the host's memory, one by one."""
    every = resident.batch(np.arange(len(resident))).to("cpu")
    held = TensorDataset(every.images.contiguous(), every.texts)
    for images, texts in from_host(held, options):
        yield ImageTextBatch(images, texts).to(options.device, non_blocking=True)


def steps_of(options: argparse.Namespace) -> dict[str, Callable[[], None]]:
    """The plain step, and ours of either stage."""
    world = worlds.named("two-objects", size=options.size, train=options.images, val=0)
    train = world.splits()["train"]
    sayings = ImageTexts(train, words_of(train))
    resident = sayings.resident(torch.device(options.device))
    clocks = {PLAIN: Clock(0, 1000), FIRST: Clock(0, 1000), SECOND: Clock(999, 1000)}
    systems = {name: built(sayings, clock, options.device) for name, clock in clocks.items()}
    make_plain(systems[PLAIN].model)
    for name in (FIRST, SECOND):
        record_steps(systems[name])
        if options.compile:
            systems[name].compile_parts()
    return {name: step_of(system, name, resident, options) for name, system in systems.items()}


def step_of(
    system: VLVAE, name: str, resident: ImageTexts, options: argparse.Namespace
) -> Callable[[], None]:
    """A step of a system on its own batches."""
    fast = name != PLAIN
    batches = as_trained(resident, options.batch) if fast else loaded(resident, options)
    adam = system.configure_optimizers()["optimizer"]

    def clip() -> Any:
        system.configure_gradient_clipping(adam, Training().clip)

    return descent(system, batches, adam, clip, fast)


def main() -> None:
    """Measure, print, write."""
    options = parser(__doc__.splitlines()[0], size=112, batch=256).parse_args()
    found = compared(steps_of(options), FIRST, PLAIN, TARGET, options.batch, options)
    show(found, FIRST, PLAIN, options)
    write("vlvae", found, options)


if __name__ == "__main__":
    main()
