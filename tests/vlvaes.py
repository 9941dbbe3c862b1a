"""Small VLVAEs for tests."""

from pathlib import Path
from typing import TypeVar

import torch

from polymodal.data.records import Dataset
from polymodal.runs import jobs
from polymodal.systems.vlvae.vlvae import Config, build, learn
from polymodal.systems.vlvae.vlvae_module import VLVAE
from polymodal.training.system import Clock
from polymodal.training.training_config import Training

M = TypeVar("M", bound=torch.nn.Module)

TINY = {
    "latent": 4,
    "code": 16,
    "width": 4,
    "downsampling": 8,
    "flow_hidden": 16,
    "transforms": 2,
    "flow_samples": 2,
}
"""A model that takes a step in milliseconds on pictures of 16×16."""


def tiny(train: Dataset, **changes) -> VLVAE:
    """A model at the first of a hundred steps."""
    torch.manual_seed(0)
    config = Config(**TINY | changes)
    system = build(config, learn(config, train))
    system.clock = Clock()
    return system


def stirred(part: M, scale: float = 0.3) -> M:
    """A model, or a part of one, with every weight away from its start, ready for use."""
    torch.manual_seed(1)
    with torch.no_grad():
        for weights in part.parameters():
            weights.add_(scale * torch.randn_like(weights))
    return part.eval()


def train_vlvae(squares: Path, run: Path, *, model: dict | None = None, **training) -> dict:
    """Train on squares of 16×16 in this process: four steps of each stage unless told otherwise."""
    budget = {"max_steps": 8, "batch_size": 8, "accelerator": "cpu", "log_every": 1}
    return jobs.train(
        "vlvae",
        Config(**TINY | {"flow_share": 0.5} | (model or {})),
        Training(**budget | training),
        data=f"folder:{squares},size=16",
        run=run,
    )
