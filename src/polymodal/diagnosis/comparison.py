"""Several encoders beside each other: whether what they hold goes with how well they recognise."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from polymodal.diagnosis.diagnosing import Diagnosis
from polymodal.diagnosis.parts_ratio import correlation

AGAINST = ("tre_ratio", "parts_f1")
"""What is set against zero-shot accuracy (003, Figs 4.5 and 4.2)."""


@dataclass(frozen=True)
class Comparison:
    """Diagnoses of several encoders."""

    diagnoses: Sequence[Diagnosis]

    @cached_property
    def points(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Zero-shot accuracy and each measure, of the encoders that have both."""
        by_measure = {
            name: {
                each.name: (each.metrics["zsl_top1"], each.metrics[name])
                for each in self.diagnoses
                if {"zsl_top1", name} <= each.metrics.keys()
            }
            for name in AGAINST
        }
        return {name: points for name, points in by_measure.items() if points}

    @cached_property
    def correlations(self) -> dict[str, tuple[float, float]]:
        """Pearson's r of each measure and zero-shot accuracy, and its p, where there is any."""
        by_measure = {
            name: correlation(*torch.tensor(list(points.values()), dtype=torch.double).unbind(1))
            for name, points in self.points.items()
        }
        return {name: (r, p) for name, (r, p) in by_measure.items() if not math.isnan(r)}

    def to_json(self) -> dict[str, Any]:
        """All that was measured, and what goes with what."""
        correlations = {name: {"r": r, "p": p} for name, (r, p) in self.correlations.items()}
        return {
            "against zsl_top1": correlations,
            "encoders": [each.to_json() for each in self.diagnoses],
        }
