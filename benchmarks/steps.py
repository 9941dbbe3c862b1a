"""What a training step costs: VSE++, one more caption encoder, and GCIE, which needs both.

    python benchmarks/steps.py [--quick] [--device cuda] [--out results.json]

A GCIE step (ellipsoidal, 2-Wasserstein) should cost at most VSE++'s plus that of a second caption
encoder, plus 15 %: its heads and its similarity are nearly free. A step is forward, backward and
Adam, on image features computed beforehand. The three are timed in turn, round after round, so that
a busy machine slows all alike; the ratio is the median over rounds, and beside it stands that of
each one's fastest step, since other programs only ever add time.
"""

import argparse
import shlex
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from polymodal.base import files
from polymodal.base.hardware import hardware
from polymodal.base.version import versions
from polymodal.data.pairs import PairBatch
from polymodal.data.vocabulary import SPECIAL
from polymodal.nn.caption_encoders import GRUEncoder
from polymodal.systems.retrieval import gaussian, vse
from timing import seconds

SIZES = {"embed_dim": 1024, "hidden": 1024, "word_dim": 300}
"""The paper's (001, §3.1)."""
QUICK = {"embed_dim": 128, "hidden": 128, "word_dim": 64}
FEATURES = 2048
WORDS = 11_000
"""About as many as the captions of COCO have."""
LENGTHS = (9, 16)
"""Tokens of a caption, from and below, start and end among them: twelve in the mean."""
TARGET = 1.15


def draw(b: int, device: str) -> PairBatch:
    """Features and captions at random, padded to the longest."""
    make = torch.Generator().manual_seed(0)
    lengths = torch.randint(*LENGTHS, (b,), generator=make)
    tokens = torch.randint(4, WORDS, (b, int(lengths.max())), generator=make)
    tokens[torch.arange(tokens.shape[1]) >= lengths[:, None]] = 0
    images = torch.randn(b, FEATURES, generator=make)
    return PairBatch(images, tokens, lengths, torch.arange(b)).to(device)


def system_step(module: Any, sizes: dict[str, int], batch: PairBatch) -> Callable[[], None]:
    """One step of a system on features."""
    learned = {
        "vocabulary": [*SPECIAL, *(f"word{n}" for n in range(4, WORDS))],
        "size": 224,
        "image_encoder": {"kind": "features", "made_by": "random", "dim": FEATURES},
    }
    system = module.build(module.Config(**sizes), learned).to(batch.images.device).train()
    return descent(system, lambda: system.training_step(batch, 0)["loss"])


def encoder_step(sizes: dict[str, int], batch: PairBatch) -> Callable[[], None]:
    """One step of a caption encoder alone, with a loss that costs nothing."""
    encoder = GRUEncoder(WORDS, sizes["word_dim"], sizes["hidden"]).to(batch.images.device)
    return descent(encoder, lambda: encoder(batch.tokens, batch.lengths).sum())


def descent(module: torch.nn.Module, loss: Callable[[], torch.Tensor]) -> Callable[[], None]:
    """Forward, backward, Adam."""
    adam = torch.optim.Adam(module.parameters(), lr=2e-4)

    def step() -> None:
        adam.zero_grad()
        loss().backward()
        adam.step()

    return step


def measure_all(options: argparse.Namespace) -> dict[str, Any]:
    """The seconds of each step and their ratio, medians over rounds."""
    torch.manual_seed(0)
    batch, sizes = draw(options.batch_size, options.device), QUICK if options.quick else SIZES
    steps = {
        "VSE++": system_step(vse, sizes, batch),
        "caption encoder": encoder_step(sizes, batch),
        "GCIE ellipsoidal wasserstein": system_step(gaussian, sizes, batch),
    }
    rounds = []
    for _ in range(options.rounds + 1):
        rounds.append({k: seconds(v, options.steps, options.device) for k, v in steps.items()})
    rounds = rounds[1:]  # the first was for warming up
    fastest = {name: min(now[name] for now in rounds) for name in steps}
    middle = {name: statistics.median(now[name] for now in rounds) for name in steps}
    return {
        "rows": [
            {"name": name, "metrics": {"seconds": middle[name], "fastest": fastest[name]}}
            for name in steps
        ],
        "ratio": statistics.median(map(ratio, rounds)),
        "ratio_of_fastest": ratio(fastest),
        "ratios": [ratio(now) for now in rounds],
        "target": TARGET,
    }


def ratio(spent: dict[str, float]) -> float:
    """GCIE's step over the two that it should cost."""
    one, second, both = spent.values()
    return both / (one + second)


def show(found: dict[str, Any], options: argparse.Namespace) -> None:
    """Print the table."""
    table = Table(title=f"A step of {options.batch_size} pairs, float32, {options.device}")
    table.add_column("what")
    table.add_column("ms", justify="right")
    table.add_column("fastest", justify="right")
    for row in found["rows"]:
        spent = row["metrics"]
        table.add_row(
            row["name"], *(f"{1000 * spent[name]:.2f}" for name in ("seconds", "fastest"))
        )
    console = Console()
    console.print(table)
    low, high = min(found["ratios"]), max(found["ratios"])
    console.print(
        f"GCIE / (VSE++ + caption encoder): {found['ratio']:.3f}, from {low:.3f} to {high:.3f}; of the "
        f"fastest {found['ratio_of_fastest']:.3f} (target ≤ {TARGET})"
    )


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small models")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--steps", type=int, default=1, help="steps of each a round")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found = measure_all(options)
    show(found, options)
    if options.out:
        protocol = {"device": options.device, "dtype": "float32", "features": FEATURES}
        protocol |= {"words": WORDS, "tokens": list(LENGTHS), "batch_size": options.batch_size}
        protocol |= {"rounds": options.rounds, "steps": options.steps}
        protocol["threads"] = torch.get_num_threads()
        protocol |= QUICK if options.quick else SIZES
        told = {"study": "steps", "command": shlex.join(["python", *sys.argv])}
        told |= {"hardware": hardware(), "versions": versions(), "protocol": protocol}
        files.write_json(options.out, told | found)


if __name__ == "__main__":
    main()
