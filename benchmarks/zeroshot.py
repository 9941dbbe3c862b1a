"""How many images a second CMDIM with AC is trained on, against the same step with a CPU data loader.

    python benchmarks/zeroshot.py [--device cuda] [--encoder alex] [--out results.json]
    python benchmarks/zeroshot.py --size 64 --slim 16 --batch 8 --steps 2 --rounds 2 --images 70 --workers 1

A step is what training does for a batch: gather it with a partner of its class for each picture,
forward, backward, clip, Adam; windows are cut on the device. Ours takes pictures that are kept on the
device as bytes, rounds products to bf16, compiles the parts and plays each step as a recorded graph;
`recorded` does so without compiling. The plain one is the same model and loss in float32, not compiled,
its maps laid out as torch has them by itself, its batches put together by the workers of a DataLoader
from the same pictures in memory. Images a second are those encoded: two for each that a batch is of.

All are timed in turn, round after round; the ratio is the median over rounds. A round must be longer
than what the workers hold ready (two batches each).
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from polymodal.data.drawn import birds
from polymodal.systems.zeroshot import cmdim
from polymodal.systems.zeroshot.class_examples import ClassExamples, PartnerBatch
from polymodal.training.fitting import record_steps
from polymodal.training.system import Clock
from polymodal.training.training_config import Training
from timing import as_trained, compared, descent, from_host, parser, show, write

PLAIN, RECORDED, OURS = "plain", "recorded", "ours"
TARGET = 4.0


class Held(Dataset):
    """Pictures in the host's memory, each with its class and a partner of it, one by one."""

    def __init__(self, pictured: ClassExamples, pictures: Tensor, labels: Tensor) -> None:
        self.pictured, self.pictures, self.labels = pictured, pictures, labels

    def __len__(self) -> int:
        return len(self.pictures)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor, Tensor]:
        (partner,) = self.pictured.partners_of(np.array([index]))
        return self.pictures[index], self.labels[index], self.pictures[int(partner)]


def loaded(resident: ClassExamples, options: argparse.Namespace) -> Iterator[PartnerBatch]:
    """The same pictures from a DataLoader over the host's memory."""
    every = resident.block(np.arange(len(resident))).to("cpu")
    held = Held(resident, every.images.contiguous(), every.labels)
    for images, labels, others in from_host(held, options):
        yield PartnerBatch(images, labels, others).to(options.device, non_blocking=True)


def built(train: Any, options: argparse.Namespace) -> Any:
    """A learner with the settings of the thesis, in training."""
    torch.manual_seed(0)
    config = cmdim.Config(encoder=options.encoder, slim=options.slim, local="attributes")
    system = cmdim.build(config, cmdim.learn(config, train))
    system.start(train)
    return system.to(options.device).train()


def steps_of(options: argparse.Namespace) -> dict[str, Callable[[], None]]:
    """The plain step, ours without compiling, and ours."""
    train = birds.named(size=options.size, train=options.images).splits()["train"]
    systems = {name: built(train, options) for name in (PLAIN, RECORDED, OURS)}
    resident = systems[OURS].examples(train).resident(torch.device(options.device))
    for name in (RECORDED, OURS):
        record_steps(systems[name])
    if options.compile:
        systems[OURS].compile_parts()
    return {name: step_of(system, name, resident, options) for name, system in systems.items()}


def step_of(
    system: Any, name: str, resident: ClassExamples, options: argparse.Namespace
) -> Callable[[], None]:
    """A step of a learner on its own batches."""
    system.clock = Clock(0, 1000)
    fast = name != PLAIN
    batches = as_trained(resident, options.batch) if fast else loaded(resident, options)

    def clip() -> Any:
        torch.nn.utils.clip_grad_norm_(system.parameters(), Training().clip)

    return descent(system, batches, system.configure_optimizers(), clip, fast)


def main() -> None:
    """Measure, print, write."""
    flags = parser(__doc__.splitlines()[0], size=128, batch=64)
    flags.add_argument("--encoder", choices=("basic", "alex"), default="basic")
    flags.add_argument("--slim", type=int, default=1, help="what numbers of maps are divided by")
    options = flags.parse_args()
    found = compared(steps_of(options), OURS, PLAIN, TARGET, 2 * options.batch, options)
    show(found, OURS, PLAIN, options)
    write("zeroshot", found, options)


if __name__ == "__main__":
    main()
