"""A tiny GAN: two optimisers, weights that follow on average, a frozen part, a score to be low.

`train_gan` trains one as any system is trained.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from polymodal import systems
from polymodal.data.pairs import inputs
from polymodal.runs import jobs
from polymodal.training.system import System
from polymodal.training.training_config import Training

NOISE = 4


@dataclass(frozen=True)
class Config:
    """How it learns."""

    lr: float = 1e-3
    """The rate of both."""


class PictureBatch(SimpleNamespace):
    """Pictures alone."""

    def to(self, device, non_blocking=False):
        return PictureBatch(images=self.images.to(device))


class Pictures:
    """The pictures of a split, without what is said of them."""

    def __init__(self, dataset):
        self.dataset = dataset

    def __len__(self):
        return len(self.dataset)

    def batch(self, indices):
        return PictureBatch(images=inputs(self.dataset, indices.tolist()).float() / 127.5 - 1)


class GAN(System):
    """A generator against a discriminator, which learns twice as often."""

    monitor, better = "distance", "lower"
    automatic_optimization = False

    def __init__(self, config: Config, size: int) -> None:
        super().__init__()
        self.config, self.pixels = config, 3 * size * size
        self.generator = nn.Sequential(nn.Linear(NOISE, 16), nn.ReLU(), nn.Linear(16, self.pixels))
        self.judge = nn.Sequential(nn.Linear(self.pixels, 16), nn.ReLU(), nn.Linear(16, 1))
        self.features = nn.Linear(self.pixels, 8).requires_grad_(False)
        self.average = AveragedModel(self.generator, multi_avg_fn=get_ema_multi_avg_fn(0.9))

    def examples(self, dataset):
        return Pictures(dataset)

    def configure_optimizers(self):
        return [
            torch.optim.Adam(part.parameters(), self.config.lr, betas=(0.5, 0.999))
            for part in (self.judge, self.generator)
        ]

    def training_step(self, batch, batch_idx):
        of_judge, of_generator = self.optimizers()
        real = batch.images.flatten(1)
        for _ in range(2):
            with self.toggled_optimizer(of_judge):
                drawn = self.generator(torch.randn(len(real), NOISE)).detach()
                loss = torch.relu(1 - self.judge(real)).mean()
                self.descend(of_judge, loss + torch.relu(1 + self.judge(drawn)).mean())
        with self.toggled_optimizer(of_generator):
            loss = -self.judge(self.generator(torch.randn(len(real), NOISE))).mean()
            self.descend(of_generator, loss)
        self.average.update_parameters(self.generator)
        return {"shown": loss.detach()}

    @torch.no_grad()
    def validate(self, dataset):
        """How far the mean features of drawn pictures are from those of real ones."""
        real = Pictures(dataset).batch(torch.arange(len(dataset)).numpy()).images.flatten(1)
        noise = torch.randn(64, NOISE, generator=torch.Generator().manual_seed(0))
        drawn = self.features(self.average(noise)).mean(0)
        return {"distance": (drawn - self.features(real).mean(0)).norm().item()}

    evaluate = validate


def learn(config, train):
    return {"size": train.images([0]).shape[1]}


def build(config, learned):
    return GAN(config, learned["size"])


def train_gan(squares: Path, run: Path, parts=None, **training):
    """Twenty steps, five of which may be lost by a kill."""
    systems.system_named = lambda name: sys.modules[__name__]
    budget = {
        "max_steps": 20,
        "batch_size": 8,
        "val_every": 2,
        "checkpoint_every": 5,
        "log_every": 1,
    }
    return jobs.train(
        "gan",
        Config(),
        Training(**budget | {"accelerator": "cpu"} | training),
        data=f"folder:{squares},size=32",
        run=run,
        parts=parts,
    )
