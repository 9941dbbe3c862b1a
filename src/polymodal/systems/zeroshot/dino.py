"""DINO: self-distillation from a moving average of the encoder (Caron et al., 2021).

A reference newer than the thesis: no labels, no negatives. The student predicts from one view
the teacher's output for another. The teacher's weights are the moving average of the student's.
Two things prevent collapse: a centre is subtracted from the teacher's output, and its
temperature is low.

Smaller than in the paper: AMDIM's augmentations, two views of the whole image and no small
crops; momentum and temperatures are constant. As for every encoder here, the student is
evaluated, not the teacher.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from polymodal.base.ranges import Positive, ShareBelowOne
from polymodal.nn.scratch import Features
from polymodal.systems.zeroshot import Settings, learn
from polymodal.systems.zeroshot.class_examples import ClassBatch
from polymodal.systems.zeroshot.prototypes import cosines
from polymodal.systems.zeroshot.two_views import TwoViews

__all__ = ["Config", "build", "learn"]

M = TypeVar("M", bound=nn.Module)


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """An encoder that learns from its own average."""

    hidden: Positive[int] = 2048
    """Width of the head's two hidden layers."""
    code: Positive[int] = 256
    """Dimension of the head's bottleneck."""
    outputs: Positive[int] = 4096
    """Number of outputs of the head; the paper has 65,536, for far more images."""
    momentum: ShareBelowOne[float] = 0.996
    """Momentum of the teacher's weights."""
    centre_momentum: ShareBelowOne[float] = 0.9
    """Momentum of the centre."""
    temperature: Positive[float] = 0.1
    """Temperature of the student."""
    teacher_temperature: Positive[float] = 0.04
    """Temperature of the teacher; lower, so that its output is sharper."""


class Head(nn.Module):
    """Cosines of a feature's code with learned directions, one per output."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.code = nn.Sequential(
            nn.Linear(config.dim, config.hidden), nn.GELU(),
            nn.Linear(config.hidden, config.hidden), nn.GELU(),
            nn.Linear(config.hidden, config.code),
        )  # fmt: skip
        self.directions = nn.Parameter(torch.randn(config.outputs, config.code))

    def forward(self, whole: Float[Tensor, "b d"]) -> Float[Tensor, "b k"]:
        return cosines(self.code(whole), self.directions)


class SelfDistilled(TwoViews):
    """The cross-entropy between the teacher's output for one view and the student's for the other."""

    config: Config
    centre: Float[Tensor, " k"]

    def __init__(self, config: Config, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        self.head = Head(config)
        self.teacher, self.teacher_head = buffer_copy(self.encoder), buffer_copy(self.head)
        self.register_buffer("centre", torch.zeros(config.outputs))

    def begin_from(self, weights: dict[str, Tensor], learned: dict[str, Any]) -> None:
        """Load the encoder of another run, for the teacher too."""
        super().begin_from(weights, learned)
        self.teacher.load_state_dict(self.encoder.state_dict())

    def loss(self, views: Sequence[Features], batch: ClassBatch) -> Float[Tensor, ""]:
        first, second = views
        student = self.head(torch.cat([first.whole, second.whole])).float()
        # follows the last step of the optimiser; here, so that it is recorded with the step
        self.update_teacher()
        with torch.no_grad():
            others = torch.cat([self.teacher(view.seen).whole for view in (second, first)])
            teacher = self.teacher_head(others).float()
            targets = ((teacher - self.centre) / self.config.teacher_temperature).softmax(1)
            self.centre.lerp_(teacher.mean(0), 1 - self.config.centre_momentum)
        return cross_entropy(student / self.config.temperature, targets)

    @torch.no_grad()
    def update_teacher(self) -> None:
        """Update the teacher's weights: θ ← m θ + (1 − m) θ of the student."""
        for student, teacher in ((self.encoder, self.teacher), (self.head, self.teacher_head)):
            buffers = dict(teacher.named_buffers())
            for name, weight in student.named_parameters():
                buffers[name].lerp_(weight, 1 - self.config.momentum)


def buffer_copy(module: M) -> M:
    """A copy whose weights are buffers: the optimiser does not update them, and a change during the
    warm-up of a recorded step is undone."""
    copied = deepcopy(module)
    for part in copied.modules():
        for name, weight in list(part.named_parameters(recurse=False)):
            delattr(part, name)
            part.register_buffer(name, weight.detach())
    return copied


def build(config: Config, learned: dict[str, Any]) -> SelfDistilled:
    """The learner, given what `learn` found."""
    return SelfDistilled(config, learned)
