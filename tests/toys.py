"""Small data and small commands for tests."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from PIL import Image

import forks

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


def python(*arguments: str, fresh: bool = False) -> "subprocess.Popen[str] | forks.Fork":
    """Start Python with these arguments, as a process of its own which Ctrl-C stops even where the tests
    were started in the background: a shell lets those ignore it, and their processes too.

    It is a fork of a process that has imported everything, unless a fresh one is asked for.
    """
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    if forks.possible and not fresh:
        return forks.Fork(arguments, environment)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )


def start(*arguments: str, fresh: bool = False) -> "subprocess.Popen[str] | forks.Fork":
    """Start `polymodal` as a process of its own."""
    return python("-m", "polymodal", *arguments, fresh=fresh)


def polymodal(*arguments: str, fresh: bool = False) -> tuple[int, str]:
    """Run `polymodal` as a process of its own; give its exit status and what it printed."""
    process = start(*arguments, fresh=fresh)
    printed, _ = process.communicate()
    return process.returncode, printed


def carry_out(code: str, *arguments: str) -> str:
    """Run code in a process of its own, where nothing is checked at run time; give what it printed."""
    process = python("-c", code, *arguments)
    printed, _ = process.communicate()
    assert process.returncode == 0, printed
    return printed


def write_backbone(folder: Path, kind: str) -> Path:
    """A folder with a tiny image model of transformers, its weights drawn at random."""
    import json

    import torch
    import transformers as t

    torch.manual_seed(0)
    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    vit = {**small, "intermediate_size": 16, "image_size": 32, "patch_size": 16}
    text = {**small, "intermediate_size": 16, "vocab_size": 9, "eos_token_id": 2, "bos_token_id": 1}
    make = {
        "vit": lambda: t.ViTModel(t.ViTConfig(**vit)),
        "resnet": lambda: t.ResNetModel(
            t.ResNetConfig(
                embedding_size=8, hidden_sizes=[8, 12], depths=[1, 1], layer_type="basic"
            )
        ),
        "clip": lambda: t.CLIPModel(t.CLIPConfig(text_config=text, vision_config=vit)),
    }
    make[kind]().save_pretrained(folder)
    scaling = {"image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.25, 0.3]}
    (folder / "preprocessor_config.json").write_text(json.dumps(scaling))
    return folder


def train_squares(squares: Path, run: Path, *, model: dict | None = None, **training):
    """Train a tiny VSE++ on the squares in this process, for three steps unless told otherwise."""
    from polymodal.runs import jobs
    from polymodal.systems.retrieval.vse import Config
    from polymodal.training.training_config import Training

    where = {key: training.pop(key) for key in ("features", "init", "data") if key in training}
    tiny = {"embed_dim": 16, "hidden": 16, "word_dim": 8, "convnet_width": 8}
    budget = {"max_steps": 3, "batch_size": 8, "accelerator": "cpu", "log_every": 1}
    return jobs.train(
        "vse",
        Config(**tiny | (model or {})),
        Training(**budget | training),
        run=run,
        **{"data": f"folder:{squares},size=32"} | where,
    )


def killed_at(run: Path, step: int, *arguments: str) -> None:
    """Run Python with these arguments, which train a run, and kill -9 it as soon as there is a checkpoint
    of this step."""
    process = python(*arguments)
    until = time.monotonic() + 240
    while not (run / f"checkpoints/step-{step:08d}.ckpt").exists():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < until
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


def fall(system, batch, steps: int) -> list[float]:
    """The loss of each step of plain Adam on one batch."""
    import torch

    adam = torch.optim.Adam(system.parameters(), system.config.lr)
    losses = []
    for step in range(steps):
        adam.zero_grad()
        found = system.train().training_step(batch, step)
        found["loss"].backward()
        adam.step()
        losses.append(found["shown"].item())
    return losses


def flat(text: str) -> str:
    """What was printed, without the frames and line breaks of a terminal."""
    return " ".join(text.replace("│", " ").split())
