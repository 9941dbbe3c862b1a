"""What searching a million Gaussians costs: exactly, by a graph, and by FAISS's own flat index.

    python benchmarks/search.py [--quick] [--count N] [--measures wasserstein kl] [--out results.json]

The Gaussians are drawn so that a neighbourhood means something: each belongs to a cluster of about a
thousand, both have 32 traits, and a mean and a log-variance of `dim` numbers each are a random linear
image of an item's traits plus noise. A query is an item whose traits and numbers were moved a little.
Recall at 10 is the share of the exact search's first ten that are found. FAISS's own flat index
(IndexFlatL2, or IndexFlatIP) holds the very same lifted vectors and is asked directly: no search of that
many numbers can be faster without leaving some out. Exact search and flat index are timed in turn, round
after round, so that a busy machine slows both alike.
"""

import argparse
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from polymodal.base import files
from polymodal.base.hardware import hardware
from polymodal.base.version import versions
from polymodal.maths.diagonal_gaussian import DiagonalGaussian, clamped
from polymodal.maths.similarity import lifting
from polymodal.search import Index, Items, Settings, build

TRAITS, CLUSTER, K = 32, 1000, 10
BLOCK = 50_000
GIBIBYTE = 2**30


class Draw:
    """A world of Gaussians from one seed."""

    def __init__(self, dim: int, count: int) -> None:
        self.dim, self.count = dim, count
        self.make = torch.Generator().manual_seed(0)
        self.maps = self.normal(TRAITS, 2 * dim) / TRAITS**0.5
        self.centres = self.normal(max(1, count // CLUSTER), TRAITS)

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=self.make)

    def blocks(self) -> Iterator[Tensor]:
        """Items as rows of means beside log-variances."""
        for start in range(0, self.count, BLOCK):
            n = min(BLOCK, self.count - start)
            own = self.centres[torch.randint(len(self.centres), (n,), generator=self.make)]
            yield (own + 0.5 * self.normal(n, TRAITS)) @ self.maps + 0.2 * self.normal(
                n, 2 * self.dim
            )

    def items(self) -> DiagonalGaussian:
        """All items, in as much memory as they take."""
        found = DiagonalGaussian(
            torch.empty(self.count, self.dim), torch.empty(self.count, self.dim)
        )
        for number, block in enumerate(self.blocks()):
            rows = slice(number * BLOCK, number * BLOCK + len(block))
            found.mean[rows] = block[:, : self.dim]
            found.log_var[rows] = clamped(block[:, self.dim :])
        return found

    def queries(self, items: DiagonalGaussian, count: int) -> DiagonalGaussian:
        """Items moved a little."""
        some = items[torch.randint(len(items), (count,), generator=self.make)]
        move = 0.3 * self.normal(count, TRAITS) @ self.maps + 0.2 * self.normal(count, 2 * self.dim)
        return DiagonalGaussian(
            some.mean + move[:, : self.dim], clamped(some.log_var + move[:, self.dim :])
        )


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """How long something takes, and what it gives."""
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def size(index: Index) -> float:
    """GiB that FAISS holds beside the embeddings, counted as it would be written."""
    from polymodal.search.nearest import engine

    faiss, total = engine(), 0

    def count(content: bytes) -> int:
        nonlocal total
        total += len(content)
        return len(content)

    for part in index.nearest.parts:
        faiss.write_index(part, faiss.PyCallbackIOWriter(count))
    return total / GIBIBYTE


def peak() -> float | None:
    """GiB of memory that this process has held at the most, where the system tells."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 2**20


def recall(found: Tensor, exact: Tensor) -> float:
    """The share of the exact hits that were found."""
    return (found[:, :, None] == exact[:, None]).any(1).double().mean().item()


def one_by_one(index: Index, queries: DiagonalGaussian, count: int) -> float:
    """Queries a second when each waits for the one before."""
    count = min(count, len(queries))
    spent, _ = seconds(lambda: [index.search(queries[i : i + 1], K) for i in range(count)])
    return count / spent


def built(exact: Index, settings: Settings) -> tuple[Index, dict[str, Any]]:
    """An index of another kind of the same items, and what it cost to build."""
    spent, index = seconds(
        lambda: build(
            exact.embeddings, exact.items, side="image", measure=exact.measure, settings=settings
        )
    )
    return index, {"build_s": spent, "index_gib": size(index)}


def measure_one(name: str, items: DiagonalGaussian, options: argparse.Namespace) -> dict[str, Any]:
    """All figures of one similarity."""
    lines = Items([b"{}"] * len(items))
    exact = Index(embeddings=items, items=lines, side="image", measure=name)
    flat, cost = built(exact, Settings(kind="flat"))
    queries, few = options.asked, options.asked[: options.single]
    part, vectors = flat.nearest.parts[0], flat.nearest.lift(queries)[0]
    rounds = []
    for _ in range(options.rounds):
        ours, (_, truth) = seconds(lambda: exact.search(queries, K))
        theirs, _ = seconds(lambda: part.search(vectors, K))
        lifted, (_, again) = seconds(lambda: flat.search(queries, K))
        rounds.append((ours, theirs, lifted))
    n = len(queries)
    found: dict[str, Any] = {
        "lifted_width": part.d,
        "exact": {
            "queries_per_s": n / statistics.median(r[0] for r in rounds),
            "one_by_one_per_s": one_by_one(exact, few, 3),
        },
        "faiss_flat": {"queries_per_s": n / statistics.median(r[1] for r in rounds)},
        "flat": {
            "queries_per_s": n / statistics.median(r[2] for r in rounds),
            "one_by_one_per_s": one_by_one(flat, few, 10),
            "recall_at_10": recall(again, truth),
            **cost,
        },
        "exact_to_faiss_flat": statistics.median(r[0] / r[1] for r in rounds),
    }
    del flat, part
    graph, cost = built(
        exact, Settings(kind="hnsw", links=options.links, building=options.building)
    )
    found["hnsw"] = {"links": options.links, "building": options.building, **cost, "efforts": []}
    for effort in options.efforts:
        index = graph.tuned(effort=effort)
        spent, (_, places) = seconds(lambda index=index: index.search(queries, K))
        figures = {"effort": effort, "queries_per_s": n / spent}
        figures |= {"one_by_one_per_s": one_by_one(index, few, len(few))}
        found["hnsw"]["efforts"].append(figures | {"recall_at_10": recall(places, truth)})
    return found


def show(found: dict[str, Any], options: argparse.Namespace) -> None:
    """Print a table."""
    table = Table(title=f"{options.count} Gaussians of d {options.dim}, {options.queries} queries")
    for heading in (
        "similarity",
        "search",
        "queries/s",
        "one by one/s",
        "recall@10",
        "build s",
        "GiB",
    ):
        table.add_column(
            heading, justify="left" if heading in ("similarity", "search") else "right"
        )

    def row(name: str, kind: str, f: dict[str, Any], right: float | None = None) -> None:
        keys = ("queries_per_s", "one_by_one_per_s", "recall_at_10", "build_s", "index_gib")
        values = [f.get(key) for key in keys]
        values[2] = right if right is not None else values[2]
        shown = ["" if value is None else f"{value:.4g}" for value in values]
        table.add_row(name, kind, *shown)

    for measured in found["rows"]:
        name, f = measured["name"], measured["metrics"]
        row(name, "exact, by blocks", f["exact"], 1.0)
        row(name, "FAISS's own flat", f["faiss_flat"])
        row(name, "flat", f["flat"])
        for effort in f["hnsw"]["efforts"]:
            row(name, f"hnsw, effort {effort['effort']}", f["hnsw"] | effort)
    Console(width=120).print(table)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--dim", type=int, default=256)
    parser.add_argument("--quick", action="store_true", help="20,000 Gaussians of d 64")
    parser.add_argument("--queries", type=int, default=512)
    parser.add_argument("--single", type=int, default=100, help="queries asked one by one")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measures", nargs="+", default=["wasserstein", "kl"])
    parser.add_argument("--links", type=int, default=32)
    parser.add_argument("--building", type=int, default=80)
    parser.add_argument("--efforts", type=int, nargs="+", default=[64, 128, 256, 512])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.quick:
        options.count, options.dim = 20_000, 64
    draw = Draw(options.dim, options.count)
    items = draw.items()
    options.asked = draw.queries(items, options.queries)
    rows = []
    for name in options.measures:
        lifting(name)  # which says so where it cannot be lifted
        rows.append({"name": name, "metrics": measure_one(name, items, options)})
        found = {
            "embeddings_gib": 8 * options.count * options.dim / GIBIBYTE,
            "peak_gib": peak(),
            "rows": rows,
        }
        if options.out:  # after each, for a graph takes long to build
            names = ("count", "dim", "queries", "rounds", "links", "building", "efforts")
            protocol = {name: getattr(options, name) for name in names} | {
                "k": K,
                "dtype": "float32",
            }
            told = {"study": "search", "command": shlex.join(["python", *sys.argv])}
            told |= {
                "hardware": hardware(),
                "versions": versions() | {"faiss": version("faiss-cpu")},
            }
            files.write_json(options.out, told | {"protocol": protocol} | found)
    show(found, options)


if __name__ == "__main__":
    main()
