"""Layouts and tiny models of them for tests."""

from pathlib import Path

import torch

from polymodal.nn.layout_maps import Layouts

TINY = {
    "width": 4, "norm_width": 8, "noise": 8, "object_noise": 4, "object_dim": 8, "mask_width": 4,
    "mask_side": 8, "patch_width": 4, "object_width": 4, "fewest": 1, "least_area": 0.0,
}  # fmt: skip
"""Settings of a GAN that learns in a second."""

SCENES = "scenes,size=32,train=96,val=16,test=16"
"""Drawn pictures with their layouts."""


def some_layouts(count: int, *, objects: int, classes: int, dtype=torch.float64) -> Layouts:
    """Layouts of boxes anywhere, all objects of which are there."""
    chance = torch.Generator().manual_seed(count + objects)
    low = torch.rand(count, objects, 2, generator=chance, dtype=dtype) * 0.6
    high = low + 0.1 + 0.3 * torch.rand(count, objects, 2, generator=chance, dtype=dtype)
    return Layouts(
        torch.cat([low, high], -1),
        torch.randint(classes, (count, objects), generator=chance),
        torch.ones(count, objects, dtype=torch.bool),
    )


def train_gan(run: Path, seen: Path, *, parts=None, model=None, data=SCENES, **training):
    """Train a tiny OC-GAN in this process; `seen` is a network that its losses and scores look through."""
    from polymodal.runs import jobs
    from polymodal.systems.layout.ocgan import Config
    from polymodal.training.training_config import Training

    budget = {"max_steps": 12, "batch_size": 8, "val_every": 4, "checkpoint_every": 4}
    budget |= {"log_every": 1, "accelerator": "cpu"}
    networks = {"perceptual": str(seen), "measured_by": str(seen)}
    return jobs.train(
        "ocgan",
        Config(**TINY | networks | (model or {})),
        Training(**budget | training),
        data=data,
        run=Path(run),
        parts=parts,
    )


def train_matching(run: Path, *, model=None, data=SCENES, **training):
    """Train a tiny scene-graph similarity module in this process."""
    from polymodal.runs import jobs
    from polymodal.systems.layout.sgsm import Config
    from polymodal.training.training_config import Training

    tiny = {"convnet_width": 8, "dim": 16, "hidden": 8, "layers": 2, "fewest": 1, "least_area": 0.0}
    budget = {"max_steps": 4, "batch_size": 8, "log_every": 1, "accelerator": "cpu"}
    return jobs.train(
        "sgsm",
        Config(**tiny | (model or {})),
        Training(**budget | training),
        data=data,
        run=Path(run),
    )
