"""The systems, one file (or package) each: its frozen `Config`, what it learns from data, its build.

A system's module has
- `Config`: a frozen dataclass;
- `learn(config, train)`: what must be known of the training split before the system can be built
  (a vocabulary, the width of its features), as a JSON-able dict that is kept with the run;
- `build(config, learned)`: the `LightningModule`, which has `examples(dataset)`, `validate(dataset)`,
  `evaluate(dataset)`, `symptom(loss)` and the name of the metric that selects it in `monitor`.
"""

import importlib
from typing import Any, Protocol

from polymodal import catalogue
from polymodal.data.loading import Examples
from polymodal.data.records import Dataset
from polymodal.errors import unknown


class System(Protocol):
    """What training, runs and commands ask of any system, beside what Lightning asks."""

    monitor: str
    """The metric of `evaluate` that picks the best step, higher for better."""

    def start(self, train: Dataset) -> None:
        """Take what was learned elsewhere (pretrained weights) before training begins."""

    def begin_from(self, weights: dict[str, Any], learned: dict[str, Any]) -> None:
        """Take the weights of another run, or say why they do not fit."""

    def examples(self, dataset: Dataset) -> Examples:
        """Training examples of a split."""

    def validate(self, dataset: Dataset) -> dict[str, float]:
        """The scores that follow its training, `monitor` among them: quick."""

    def evaluate(self, dataset: Dataset) -> dict[str, float]:
        """All of the system's scores on a split."""

    def protocol(self) -> dict[str, Any]:
        """How `evaluate` measures: whatever two figures must share to be compared."""

    def symptoms(self, scores: dict[str, float]) -> list[str]:
        """What is wrong with a system that scores so, each in plain words."""

    def symptom(self, loss: float) -> str | None:
        """What a loss that stays at this value means, in plain words, or None if it is healthy."""


def names() -> list[str]:
    """Every system there is.

    >>> "vse" in names()
    True
    """
    return catalogue.names(__path__)


def summaries() -> dict[str, str]:
    """What each system is, in a line."""
    return catalogue.summaries(__path__)


def named(name: str) -> Any:
    """The module of a system.

    >>> named("vse").Config.__name__
    'Config'
    """
    if name not in names():
        raise unknown("system", name, names())
    return importlib.import_module(f"{__name__}.{name}")
