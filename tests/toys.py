"""Small data and small commands for tests."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image

COLOURS = {"red": (220, 30, 30), "green": (30, 200, 40), "blue": (40, 60, 220), "white": (240,) * 3}
PLACES = {"left": (4, 12), "right": (20, 12), "top": (12, 4), "bottom": (12, 20)}

TINY = ["--embed-dim", "16", "--hidden", "16", "--word-dim", "8", "--convnet-width", "8"]
"""Flags of a model that trains in a second."""


def write_squares(folder: Path, train: int = 48, val: int = 16, test: int = 16) -> Path:
    """A folder of 32×32 pictures, each a square of some colour at some place, and captions.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    with (folder / "captions.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["image", "caption", "split"])
        for split, count in (("train", train), ("val", val), ("test", test)):
            for i in range(count):
                colour = list(COLOURS)[i % 4]
                place = list(PLACES)[i // 4 % 4]
                pixels = rng.integers(0, 40, (32, 32, 3), dtype=np.uint8)
                x, y = PLACES[place]
                pixels[y : y + 8, x : x + 8] = COLOURS[colour]
                name = f"{split}-{i:03d}.png"
                Image.fromarray(pixels).save(folder / name)
                rows.writerow([name, f"a {colour} square at the {place}", split])
                rows.writerow([name, f"something {colour}", split])
    return folder


def start(*arguments: str) -> subprocess.Popen[str]:
    """Start `polymodal` as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "polymodal", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )


def polymodal(*arguments: str) -> tuple[int, str]:
    """Run `polymodal` as a process of its own; give its exit status and what it printed."""
    process = start(*arguments)
    printed, _ = process.communicate()
    return process.returncode, printed
