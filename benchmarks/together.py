"""How many images a second several learners see in all, when each is trained by a process of its own.

    python benchmarks/together.py [--device cuda] [--processes 1 8] [--system fc] [--encoder alex] [--compile]
    python benchmarks/together.py --size 64 --slim 16 --batch 8 --steps 2 --images 70 --processes 1 2

As `polymodal reproduce --processes` trains rows: pictures on the device as bytes, bf16, each step played
as a recorded graph. Processes take turns on a GPU, however little one of them fills, unless NVIDIA's MPS
lets them share it: `nvidia-cuda-mps-control -d` before, `echo quit | nvidia-cuda-mps-control` after. All
wait for each other before they are timed. Images are those encoded.
"""

import argparse
from multiprocessing import get_context
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from polymodal import systems
from polymodal.data.drawn import birds
from polymodal.training.fitting import record_steps
from polymodal.training.system import Clock
from polymodal.training.training_config import Training
from timing import as_trained, descent, parser, seconds, write

TWICE = ("amdim", "cmdim")
"""Learners that encode two pictures for each of a batch."""


def step_of(options: argparse.Namespace) -> Any:
    """One learner's step on its own batches."""
    train = birds.named(size=options.size, train=options.images).splits()["train"]
    module = systems.system_named(options.system)
    config = module.Config(encoder=options.encoder, slim=options.slim, local="attributes")
    system = module.build(config, module.learn(config, train))
    system.start(train)
    system.to(options.device).train()
    system.clock = Clock(0, 1000)
    record_steps(system)
    if options.compile:
        system.compile_parts()
    resident = system.examples(train).resident(torch.device(options.device))
    adam = system.configure_optimizers()

    def clip() -> Any:
        torch.nn.utils.clip_grad_norm_(system.parameters(), Training().clip)

    return descent(system, as_trained(resident, options.batch), adam, clip, fast=True)


def work(options: argparse.Namespace, ready: Any, told: Any) -> None:
    """One process: warm up, wait for the others, and tell how many images a second it saw."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    step = step_of(options)
    seconds(step, options.steps, options.device)
    ready.wait()
    images = options.batch * (2 if options.system in TWICE else 1)
    told.put(images / seconds(step, options.steps, options.device))


def together(count: int, options: argparse.Namespace) -> list[float]:
    """So many processes at once."""
    context = get_context("spawn")  # CUDA does not survive a fork
    ready, told = context.Barrier(count), context.Queue()
    crew = [context.Process(target=work, args=(options, ready, told)) for _ in range(count)]
    for process in crew:
        process.start()
    found = [told.get() for _ in crew]
    for process in crew:
        process.join()
    return found


def main() -> None:
    """Measure, print, write."""
    flags = parser(__doc__.splitlines()[0], size=128, batch=64)
    flags.set_defaults(steps=300, images=700, compile=False)
    flags.add_argument("--compile", action="store_true")
    flags.add_argument("--processes", type=int, nargs="+", default=[1, 8])
    flags.add_argument("--system", choices=("fc", "pn", "dim", "amdim", "cmdim"), default="cmdim")
    flags.add_argument("--encoder", choices=("basic", "alex"), default="basic")
    flags.add_argument("--slim", type=int, default=1, help="what numbers of maps are divided by")
    options = flags.parse_args()
    table = Table(
        "processes", "images/s in all", "each", title=f"{options.encoder} {options.system}+AC"
    )
    rows = []
    for count in options.processes:
        found = together(count, options)
        rows.append({"name": f"{count}", "metrics": {"images_a_second": sum(found)}})
        table.add_row(f"{count}", f"{sum(found):,.0f}", f"{min(found):,.0f}–{max(found):,.0f}")
    Console().print(table)
    write("together", {"rows": rows}, options)


if __name__ == "__main__":
    main()
