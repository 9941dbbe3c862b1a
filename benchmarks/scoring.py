"""What scoring every image against every caption costs, and ranking them, for each similarity.

    python benchmarks/scoring.py [--quick] [--device cuda] [--out results.json]

All times are of one run, and each measure is timed in turn, round after round, so that a busy machine
slows all alike; the ratios are medians over rounds. `reference` evaluates the way VSE++'s own code
does, with one product and one full sort a query, for a part of the queries, scaled to all of them.
The second table says what products of bf16 or TF32 numbers (float32 sums) do to the ranking, and
what scores in bf16 would do, which autocast asks for and the library does not give.
"""

import argparse
import shlex
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from polymodal.base import files
from polymodal.base.hardware import hardware
from polymodal.base.version import versions
from polymodal.maths.diagonal_gaussian import DiagonalGaussian, clamped
from polymodal.maths.similarity import Lifting, hold, lifting, ranks
from polymodal.maths.similarity.blockwise import columns
from polymodal.maths.similarity.lifting import Lifted

NAMES = ("cosine", "csd", "wasserstein", "mahalanobis", "kl", "min_kl")
TARGETS = {"csd": 1.2, "wasserstein": 2.3, "mahalanobis": 2.3, "kl": 2.3, "min_kl": 4.5}
MEBIBYTE = 2**20
FEW = 1000
"""Images whose ranking is compared after rounding: the paper's fold."""

Given = tuple[DiagonalGaussian, DiagonalGaussian, Tensor]
"""Images, captions, and which image each caption belongs to."""


def draw(m: int, n: int, d: int, device: str) -> Given:
    """Images and captions that share but part of what they say, so that recall is neither 0 nor 100."""
    make = torch.Generator().manual_seed(0)
    owner = torch.arange(n) * m // n
    topics = torch.randn(32, 2 * d, generator=make) / 32**0.5

    def gaussians(traits: Tensor) -> DiagonalGaussian:
        both = traits @ topics + 0.5 * torch.randn(len(traits), 2 * d, generator=make)
        return DiagonalGaussian(both[:, :d].contiguous(), clamped(both[:, d:])).to(device)

    traits = torch.randn(m, 32, generator=make)
    images = gaussians(traits)
    return images, gaussians(traits[owner] + torch.randn(n, 32, generator=make)), owner.to(device)


def sides(name: str, given: Given) -> tuple[Any, Any, Tensor]:
    """The embeddings as the measure takes them, Gaussians or their means, and the owners."""
    images, captions, owner = given
    first, second = lifting(name).kinds[0]
    x = images if first == "Gaussian" else images.mean
    return x, captions if second == "Gaussian" else captions.mean, owner


@torch.no_grad()
def scan(measure: Lifting, images: Any, captions: Any) -> None:
    """The whole score matrix, block after block, each forgotten as the next comes."""
    held, block = hold(measure, images), columns(len(images), captions)
    for start in range(0, len(captions), block):
        held(captions[start : start + block])


def seconds(work: Callable[[], Any], device: str) -> float:
    """How long something takes, to the end of what the device was given to do."""
    if device == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def extra_memory(work: Callable[[], Any], device: str) -> float | None:
    """The peak in MiB above what was held before; None where the system does not tell."""
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        work()
        return (torch.cuda.max_memory_allocated() - before) / MEBIBYTE
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak is counted anew
    except OSError:
        return None
    before = resident("VmRSS")
    work()
    return (resident("VmHWM") - before) / 1024


def resident(field: str) -> int:
    """Kibibytes of this process's memory, now (VmRSS) or at the peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def reference(images: Tensor, captions: Tensor, owner: Tensor, queries: int) -> float:
    """Seconds for all queries both ways by one product and one full sort each, as VSE++ evaluates.

    `queries` images, and all their captions, are asked; in NumPy on the processor, as there.
    """
    x, y = (np.ascontiguousarray(side.cpu().numpy()) for side in (images, captions))
    x, y = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (x, y))
    mine = [np.flatnonzero(owner.cpu().numpy() == i) for i in range(queries)]
    start = time.perf_counter()
    for i in range(queries):
        order = np.argsort(np.dot(x[i : i + 1], y.T).flatten())[::-1]
        min(int(np.where(order == j)[0][0]) for j in mine[i])
    for i in range(queries):
        scores = np.dot(y[mine[i]], x.T)
        for row in scores:
            np.where(np.argsort(row)[::-1] == i)[0][0]
    return (time.perf_counter() - start) * len(x) / queries


def rounded(measure: Lifting, how: Callable[[Tensor], Tensor]) -> Lifting:
    """The measure with every number of its products rounded, as a tensor core reads them."""

    def less(lift: Callable[..., tuple[Lifted, ...]]) -> Callable[..., tuple[Lifted, ...]]:
        return lambda *given: tuple(Lifted(how(t.vectors), t.own) for t in lift(*given))

    return replace(measure, image=less(measure.image), caption=less(measure.caption))


def bf16(numbers: Tensor) -> Tensor:
    """Eight bits of mantissa."""
    return numbers.bfloat16().float()


def tf32(numbers: Tensor) -> Tensor:
    """Eleven bits of mantissa, to the nearest."""
    bits = numbers.contiguous().view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)


@torch.no_grad()
def degradation(measure: Lifting, images: Any, captions: Any, owner: Tensor) -> dict[str, float]:
    """What rounding does: rank correlation of scores, first places kept, recall at 1 before and after."""
    exact = measure(images, captions)
    found = {"r1": recall(measure, images, captions, owner)}
    rough_ones = {"bf16": rounded(measure, bf16), "tf32": rounded(measure, tf32)}
    rough_ones["autocast"] = replace(measure, settle=lambda s: bf16(measure.settle(s)))
    for name, rough in rough_ones.items():
        scores = rough(images, captions)
        found[f"{name}_correlation"] = correlation(exact, scores)
        found[f"{name}_first"] = 100 * (exact.argmax(0) == scores.argmax(0)).double().mean().item()
        found[f"{name}_r1"] = recall(rough, images, captions, owner)
    return found


def recall(measure: Lifting, images: Any, captions: Any, owner: Tensor) -> float:
    """Recall at 1, the mean of both ways."""
    return statistics.mean(
        100 * (rank == 0).double().mean().item() for rank in ranks(measure, images, captions, owner)
    )


def correlation(exact: Tensor, rough: Tensor) -> float:
    """Spearman's, over the images of each caption, in the mean."""
    first, second = (scores.argsort(0).argsort(0).double() for scores in (exact, rough))
    return (
        torch.nn.functional.cosine_similarity(first - first.mean(0), second - second.mean(0), dim=0)
        .mean()
        .item()
    )


def time_rounds(given: Given, options: argparse.Namespace) -> list[dict[str, tuple[float, float]]]:
    """Seconds of scoring alone and of ranking both ways, of each measure, round after round."""
    rounds = []
    for _ in range(options.rounds + 1):
        now = {}
        for name in NAMES:
            measure, (x, y, owner) = lifting(name), sides(name, given)
            scoring = seconds(partial(scan, measure, x, y), options.device)
            now[name] = scoring, seconds(partial(ranks, measure, x, y, owner), options.device)
        rounds.append(now)
    return rounds[1:]  # the first was for warming up


def row(name: str, given: Given, rounds: list, device: str) -> dict[str, Any]:
    """The figures of one measure."""
    measure, (x, y, owner) = lifting(name), sides(name, given)
    few = min(len(x), FEW)
    some = (owner < few).nonzero()[:, 0]
    return {
        "seconds": statistics.median(now[name][0] for now in rounds),
        "with_ranks": statistics.median(now[name][1] for now in rounds),
        "times_cosine": statistics.median(now[name][0] / now["cosine"][0] for now in rounds),
        "target": TARGETS.get(name),
        "ranks_extra": statistics.median(now[name][1] / now[name][0] - 1 for now in rounds),
        "extra_mib": extra_memory(partial(ranks, measure, x, y, owner), device),
        **degradation(measure, x[:few], y[some], owner[some]),
    }


def measure_all(options: argparse.Namespace) -> dict[str, Any]:
    """Every figure of the table."""
    m, n, d = options.sizes
    given = draw(m, n, d, options.device)
    rounds = time_rounds(given, options)
    rows = {name: row(name, given, rounds, options.device) for name in NAMES}
    ask = min(options.queries, m)
    slow = reference(*sides("cosine", given), ask)
    return {
        "rows": [{"name": name, "metrics": found} for name, found in rows.items()],
        "all_with_ranks": sum(found["with_ranks"] for found in rows.values()),
        "reference": {
            "seconds": slow,
            "asked": f"{ask} of {m} images and their captions, scaled to all",
            "times_faster": slow / rows["cosine"]["with_ranks"],
        },
    }


def show(found: dict[str, Any], options: argparse.Namespace) -> None:
    """Print the tables."""
    m, n, d = options.sizes
    speed = Table(title=f"{m} images × {n} captions × {d}, float32, {options.device}")
    for heading in ("measure", "scores s", "× cosine", "target", "with ranks s", "more", "MiB"):
        speed.add_column(heading, justify="left" if heading == "measure" else "right")
    rough = Table(title=f"Rounded, {min(m, FEW)} images and their captions: R@1 · same first · ρ")
    for heading in ("measure", "R@1", "bf16 products", "TF32 products", "bf16 scores"):
        rough.add_column(heading, justify="left" if heading == "measure" else "right")
    for name, f in ((r["name"], r["metrics"]) for r in found["rows"]):
        target = f"≤ {f['target']}" if f["target"] else ""
        memory = "?" if f["extra_mib"] is None else f"{f['extra_mib']:.0f}"
        times = (
            f"{f['seconds']:.4g}",
            f"{f['times_cosine']:.2f}",
            target,
            f"{f['with_ranks']:.4g}",
        )
        speed.add_row(name, *times, f"{f['ranks_extra']:+.0%}", memory)
        parts = [
            f"{f[f'{kind}_r1']:.2f} · {f[f'{kind}_first']:.1f} % · {f[f'{kind}_correlation']:.6f}"
            for kind in ("bf16", "tf32", "autocast")
        ]
        rough.add_row(name, f"{f['r1']:.2f}", *parts)
    console = Console()
    console.print(speed, rough)
    console.print(f"All six with ranks: {found['all_with_ranks']:.4g} s")
    slow = found["reference"]
    console.print(
        f"One product and one sort a query (NumPy, {slow['asked']}): {slow['seconds']:.4g} s, "
        f"{slow['times_faster']:.1f} × cosine with ranks (target ≥ 10)"
    )


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs=3, metavar=("M", "N", "D"))
    parser.add_argument("--quick", action="store_true", help="1000 × 5000 × 256")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--queries", type=int, default=200, help="images that the reference asks")
    parser.add_argument(
        "--precision",
        choices=("highest", "high"),
        default="highest",
        help="of float32 products: high is TF32 on CUDA",
    )
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    options.sizes = options.sizes or ([1000, 5000, 256] if options.quick else [5000, 25000, 1024])
    torch.set_float32_matmul_precision(options.precision)
    found = measure_all(options)
    show(found, options)
    if options.out:
        protocol = {"device": options.device, "precision": options.precision, "dtype": "float32"}
        protocol |= {"sizes": options.sizes, "rounds": options.rounds}
        told = {"study": "scoring", "command": shlex.join(["python", *sys.argv])}
        told |= {"hardware": hardware(), "versions": versions(), "protocol": protocol}
        files.write_json(options.out, told | found)


if __name__ == "__main__":
    main()
