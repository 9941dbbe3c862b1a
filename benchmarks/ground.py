"""What grounding costs in use: regions a second, and the time of `ground` on one photo once loaded.

    python benchmarks/ground.py [--quick] [--device cuda] [--finder opencv:SSD] [--out results.json]

A drawn scene stands for a photo. The model has the paper's sizes and random weights. One crop at a time
is the reference for regions, timed in the same rounds.
"""

import argparse
import shlex
import statistics
import sys
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from polymodal.base import files
from polymodal.base.hardware import hardware
from polymodal.base.version import versions
from polymodal.data.image_files import WHOLE
from polymodal.data.sources import open_splits
from polymodal.nn.language_models import small_language_model
from polymodal.nn.regions import describe, encode_boxes, propose
from polymodal.systems.grounding import grounding
from timing import seconds

CAPTION = "a man in a red hat holds a brown dog"
MOST = 1.0
"""Seconds that `ground` may take on one photo."""


def model(description: dict[str, Any], width: int, options: argparse.Namespace) -> Any:
    """A model that learned nothing, for such regions."""
    config = grounding.Config()
    learned = {
        "words": small_language_model([CAPTION] * 5, width=128, layers=3, heads=4),
        "regions": description,
        "region_width": width,
        "size": options.size,
        "whole": True,
    }
    return grounding.build(config, learned).to(options.device).eval()


def measure_all(options: argparse.Namespace) -> dict[str, Any]:
    """Seconds of each part, the median over rounds."""
    photo = open_splits(f"scenes,size={options.size},train=1,val=1,test=1")["test"].images([0])[0]
    description = describe(
        finder=options.finder,
        count=options.count,
        encoder=options.encoder,
        crop=options.crop,
        geometry=True,
    )
    boxes, features = propose(photo[None], description, options.device)
    system = model(description, features.shape[2], options)
    own = boxes[0][(boxes[0][:, 2:] > boxes[0][:, :2]).all(1)]
    parts = {
        "ground": lambda: system.ground(photo, CAPTION),
        "regions": lambda: propose(photo[None], description, options.device),
        "crops together": lambda: encode_boxes(photo, own, description, options.device),
        "crop by crop": lambda: [
            encode_boxes(photo, own[i : i + 1], description, options.device)
            for i in range(len(own))
        ],
    }
    if features.shape[2] > encode_boxes(photo, own, description, options.device).shape[1]:
        raise SystemExit("Give a finder that says nothing of a box, so that crops can be timed.")
    rounds = [
        {name: seconds(part, 1, options.device) for name, part in parts.items()}
        for _ in range(options.rounds + 1)
    ][1:]  # the first was for warming up
    middle = {name: statistics.median(one[name] for one in rounds) for name in parts}
    together, single = "crops together", "crop by crop"
    return {
        "rows": [{"name": name, "metrics": {"seconds": took}} for name, took in middle.items()],
        "regions": len(own),
        "regions_a_second": len(own) / middle["regions"],
        "faster": statistics.median(one[single] / one[together] for one in rounds),
    }


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few regions, as pixels")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--finder", default="selective-search")
    parser.add_argument("--encoder", default="efficientnet-lite0")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--crop", type=int, default=128)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.quick:
        options.finder, options.encoder, options.crop, options.count = "windows", "pixels", 16, 9
    found = measure_all(options)
    console = Console()
    for row in found["rows"]:
        console.print(f"{row['name']}: {1000 * row['metrics']['seconds']:.0f} ms")
    console.print(
        f"{found['regions_a_second']:.0f} regions a second; crops together are {found['faster']:.1f} "
        f"times faster than one by one. Grounding one photo should take less than {MOST:g} s."
    )
    if options.out:
        protocol = {k: v for k, v in vars(options).items() if k != "out"}
        protocol |= {"dtype": "float32", "threads": torch.get_num_threads(), "frame": WHOLE.rule}
        told = {"study": "ground", "command": shlex.join(["python", *sys.argv])}
        told |= {"hardware": hardware(), "versions": versions(), "protocol": protocol}
        files.write_json(options.out, told | found)


if __name__ == "__main__":
    main()
