"""What the attention of grounding costs: two matrix products, against one attended vector a word and image.

    python benchmarks/grounding.py [--quick] [--device cuda] [--out results.json]

A step is forward and backward of eq. 6, 7 and 8 (002): every noun and adjective of 50 captions with the
50 regions of each of 50 images, widths 384. The naive step makes what eq. 7 writes, an attended vector for
each word and image by a product of words × images × regions × width. Both give the same loss, which is
checked. They are timed in turn, round after round, so that a busy machine slows both alike; the ratio is
the median over rounds. Memory is on a GPU the peak of a step, on a processor all that it allocates, by
PyTorch's profiler.
"""

import argparse
import math
import shlex
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from polymodal.base import files
from polymodal.base.hardware import hardware
from polymodal.base.version import versions
from polymodal.nn.word_region_attention import Regions, Words, across
from polymodal.systems.grounding.grounding_losses import image_loss
from timing import seconds

FASTER, MEMORY = 4.0, 0.25
"""How many times faster ours should be, and which share of the memory it may take."""


def naive(words: Words, regions: Regions) -> Tensor:
    """φ with every attended vector (eq. 7)."""
    products = words.query[:, None, None] * regions.key  # n b r d
    attention = (products.sum(-1) / math.sqrt(words.query.shape[1])).softmax(-1)
    attended = (attention[..., None] * regions.value).sum(2)  # n b d
    return (words.value[:, None] * attended).sum(-1)


def steps(options: argparse.Namespace) -> dict[str, Callable[[], Tensor]]:
    """One step of each, on the same words and regions."""
    torch.manual_seed(0)
    b, r, d, n = options.captions, options.regions, options.dim, 4 * options.captions
    device = options.device

    def leaf(*shape: int) -> Tensor:
        return torch.randn(*shape, device=device).requires_grad_()

    there = torch.ones(b, r, dtype=torch.bool, device=device)
    words, regions = Words(leaf(n, d), leaf(n, d)), Regions(leaf(b, r, d), leaf(b, r, d), there)
    pair = torch.arange(b, device=device).repeat_interleave(4)
    owner = torch.arange(b, device=device)

    def step(scores: Callable[[Words, Regions], Tensor]) -> Tensor:
        loss = image_loss(scores(words, regions), pair, owner).sum() / b
        loss.backward()
        return loss.detach()

    return {
        "two products": lambda: step(lambda w, x: across(w, x)[0]),
        "attended vectors": lambda: step(naive),
    }


def mebibytes(step: Callable[[], Tensor], device: str) -> float:
    """MiB that a step takes: on a GPU at its peak, on a processor all that it allocates."""
    if device == "cuda":
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        step()
        torch.cuda.synchronize()
        return (torch.cuda.max_memory_allocated() - before) / 2**20
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as seen:
        step()
    return sum(max(event.self_cpu_memory_usage, 0) for event in seen.events()) / 2**20


def measure_all(options: argparse.Namespace) -> dict[str, Any]:
    """Seconds, memory and their ratios."""
    both = steps(options)
    losses = {name: step().item() for name, step in both.items()}
    if not math.isclose(*losses.values(), rel_tol=1e-4):
        raise SystemExit(f"The two do not compute the same loss: {losses}.")
    rounds = [
        {name: seconds(step, options.steps, options.device) for name, step in both.items()}
        for _ in range(options.rounds + 1)
    ][1:]  # the first was for warming up
    memory = {name: mebibytes(step, options.device) for name, step in both.items()}
    ours, plain = both
    rows = [
        {
            "name": name,
            "metrics": {
                "seconds": statistics.median(one[name] for one in rounds),
                "mebibytes": memory[name],
            },
        }
        for name in both
    ]
    ratios = [one[plain] / one[ours] for one in rounds]
    share = memory[ours] / memory[plain]
    return {"rows": rows, "faster": statistics.median(ratios), "ratios": ratios, "memory": share}


def show(found: dict[str, Any], options: argparse.Namespace) -> None:
    """Print the table."""
    table = Table(title=f"A step of {options.captions} captions, float32, {options.device}")
    for name in ("what", "ms", "MiB"):
        table.add_column(name, justify="left" if name == "what" else "right")
    for row in found["rows"]:
        spent = row["metrics"]
        table.add_row(row["name"], f"{1000 * spent['seconds']:.2f}", f"{spent['mebibytes']:.0f}")
    console = Console()
    console.print(table)
    console.print(
        f"Two products are {found['faster']:.1f} times faster (target {FASTER:g}) and take "
        f"{100 * found['memory']:.1f} % of the memory (target {100 * MEMORY:g} %)."
    )


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few words and regions")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--captions", type=int, default=50)
    parser.add_argument("--regions", type=int, default=50)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=1, help="steps of each a round")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.quick:
        options.captions, options.regions, options.dim = 12, 12, 32
    found = measure_all(options)
    show(found, options)
    if options.out:
        sizes = ("captions", "regions", "dim", "rounds", "steps", "device")
        protocol = {name: getattr(options, name) for name in sizes}
        protocol |= {"dtype": "float32", "threads": torch.get_num_threads()}
        told = {"study": "grounding", "command": shlex.join(["python", *sys.argv])}
        told |= {"hardware": hardware(), "versions": versions(), "protocol": protocol}
        files.write_json(options.out, told | found)


if __name__ == "__main__":
    main()
