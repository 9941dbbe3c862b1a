"""The contract of a system: what the trainer, runs and commands ask of any of them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from lightning import LightningModule
from torch import Tensor

from polymodal.base.errors import PolymodalError, unknown
from polymodal.data.batch_order import Examples
from polymodal.data.records import Dataset

Scores = dict[str, float]


@dataclass
class Clock:
    """Steps that are done, and steps in all. A step is a batch, however many optimisers move in it."""

    step: int = 0
    last: int = 100


class System(LightningModule, ABC):
    """A model with its losses and scores, beside what Lightning asks.

    `training_step` gives "loss" and "shown", the loss of one example; where it moves several
    optimisers itself (`automatic_optimization = False`), "shown" is enough.
    """

    monitor: str
    """The score of `validate` that picks the best step."""
    better: Literal["higher", "lower"] = "higher"
    """Which of two values of `monitor` is the better one."""
    strategy: str = "ddp"
    """How several processes train it."""
    can: ClassVar[frozenset[str]] = frozenset()
    """What it can be asked for, by the names of its methods: search, generate, caption, segment, …"""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.clip = 0.0

    @property
    def global_step(self) -> int:
        """Steps that are done. Lightning's own count has the steps of every optimiser."""
        return self.clock.step

    # Before training

    def start(self, train: Dataset) -> None:
        """Take what was learned elsewhere (pretrained weights) before training begins."""

    def begin_from(self, weights: dict[str, Tensor], learned: dict[str, Any]) -> None:
        """Take the weights of another run, or say why they do not fit."""
        raise PolymodalError("This system does not start from another run: leave out --init.")

    def take(self, part: str, weights: dict[str, Tensor], learned: dict[str, Any]) -> None:
        """Take a part, such as a judge, from another run that was trained for it; it stays as it is."""
        parts = dict(self.named_children())
        if part not in parts:
            raise unknown("part of this system", part, parts)
        shapes = {name: value.shape for name, value in parts[part].state_dict().items()}
        if shapes != {name: value.shape for name, value in weights.items()}:
            raise PolymodalError(
                f"--parts {part} names a run whose model has another shape. Give the same settings."
            )
        parts[part].load_state_dict(weights)
        parts[part].requires_grad_(False)

    def check(self, splits: Mapping[str, Dataset]) -> None:
        """Refuse held-out splits that it could not be asked about after training."""

    @abstractmethod
    def examples(self, dataset: Dataset) -> Examples:
        """Training examples of a split."""

    def compile_parts(self) -> None:
        """Compile each part in place, so that its weights keep their names."""
        for part in self.children():
            part.compile()

    # Scores

    @abstractmethod
    def validate(self, dataset: Dataset) -> Scores:
        """The scores that follow its training, `monitor` among them: quick."""

    @abstractmethod
    def evaluate(self, dataset: Dataset) -> Scores:
        """All of its scores on a split."""

    def evaluate_with(self, dataset: Dataset, modalities: str) -> Scores:
        """The scores with one subset of the modalities, named as t1 or flair+t1."""
        raise PolymodalError(
            "This system is not scored by subsets of modalities: leave out --modalities."
        )

    def joined(self, scores: dict[str, Scores]) -> dict[str, Scores]:
        """The scores of all held-out splits, with those that take several splits."""
        return scores

    def improves(self, score: float, best: float | None) -> bool:
        """Whether a value of `monitor` is better than the best so far, if there is one.

        >>> System.improves(type("Lower", (), {"better": "lower"}), 1.0, 2.0)
        True
        """
        if best is None:
            return score == score
        return score > best if self.better == "higher" else score < best

    def symptom(self, loss: float) -> str | None:
        """What a loss that stays at this value means, in plain words, or None if it is healthy."""
        return None

    def symptoms(self, scores: Scores) -> list[str]:
        """What is wrong with a system that scores so, each in plain words."""
        return []

    def protocol(self) -> dict[str, Any]:
        """How `evaluate` measures: whatever two figures must share to be compared."""
        return {}

    # Several optimisers

    def descend(self, optimizer: Any, loss: Tensor) -> None:
        """One step of one of several optimisers, its gradients clipped by their own norm. Say within
        `with self.toggled_optimizer(optimizer)`, so that the parameters of others stay out of it."""
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        optimizer.zero_grad()
        self.manual_backward(loss)
        if self.clip:
            torch.nn.utils.clip_grad_norm_(parameters, self.clip)
        optimizer.step()
