"""Scores of segmentations: Dice, sensitivity and the 95 % Hausdorff distance, of each patient.

A patient's slices count together. Distances are in pixels, within those slices (or volumes) where
the class is both true and found; where a patient has none of these, though one or the other, the
distance is the diagonal of a slice. What is found in slices without it, and what is missed in whole
slices, lowers Dice and sensitivity alone.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float64, Int, Int64

Counts = Int64[np.ndarray, "k 3"]
"""Of each class: places that are found and true, found, true."""


def overlaps(
    found: Int[np.ndarray, "*grid"], truth: Int[np.ndarray, "*grid"], classes: int
) -> Counts:
    """The counts of the classes 1 to `classes`.

    >>> overlaps(np.array([0, 1, 1]), np.array([1, 1, 0]), 1).tolist()
    [[1, 2, 2]]
    """
    return np.array(
        [
            [((found == k) & (truth == k)).sum(), (found == k).sum(), (truth == k).sum()]
            for k in range(1, classes + 1)
        ],
        np.int64,
    )


def dice(counts: Counts) -> Float64[np.ndarray, " k"]:
    """2 |A ∩ B| / (|A| + |B|), in percent; 100 where both are empty.

    >>> dice(np.array([[1, 2, 2], [0, 0, 0], [0, 5, 0]])).tolist()
    [50.0, 100.0, 0.0]
    """
    common, sizes = counts[:, 0], counts[:, 1] + counts[:, 2]
    return np.where(sizes > 0, 200 * common / np.maximum(sizes, 1), 100.0)


def sensitivity(counts: Counts) -> Float64[np.ndarray, " k"]:
    """The share of what is true that was found, in percent; not a number where nothing is true."""
    true = counts[:, 2]
    return np.where(true > 0, 100 * counts[:, 0] / np.maximum(true, 1), np.nan)


def surface_distances(
    found: Bool[np.ndarray, "*grid"], truth: Bool[np.ndarray, "*grid"]
) -> Float64[np.ndarray, " n"]:
    """From each place of either surface to the nearest of the other; neither is empty."""
    from scipy.ndimage import distance_transform_edt

    ours, theirs = surface(found), surface(truth)
    return np.concatenate(
        [distance_transform_edt(~other)[own] for own, other in ((ours, theirs), (theirs, ours))]
    )


def surface(region: Bool[np.ndarray, "*grid"]) -> Bool[np.ndarray, "*grid"]:
    """The places of a region with one outside it beside them."""
    from scipy.ndimage import binary_erosion

    found: np.ndarray = region & ~binary_erosion(region)
    return found


@dataclass
class PatientScores:
    """What was found of each patient, slice after slice."""

    classes: tuple[str, ...]
    """The name of each class; that of the background is left out."""
    distances: bool = True
    """Whether Hausdorff distances are wanted too."""
    counts: dict[Hashable, Counts] = field(default_factory=dict)
    away: dict[Hashable, list[list[np.ndarray]]] = field(default_factory=dict)
    diagonal: float = np.nan
    """Of a slice or volume."""

    def add(
        self, patient: Hashable, found: Int[np.ndarray, "*grid"], truth: Int[np.ndarray, "*grid"]
    ) -> None:
        """Take in a slice or volume of a patient."""
        k = len(self.classes)
        own = overlaps(found, truth, k)
        self.counts[patient] = self.counts.get(patient, np.zeros((k, 3), np.int64)) + own
        if self.distances:
            self.diagonal = float(np.linalg.norm(truth.shape))
            away = self.away.setdefault(patient, [[] for _ in self.classes])
            for place, kept in enumerate(away):
                if own[place, 1:].all():
                    kept.append(surface_distances(found == place + 1, truth == place + 1))

    def of_patients(self) -> dict[str, Float64[np.ndarray, "p k"]]:
        """Each score by patient and class; not a number where it has no meaning."""
        found = {
            "dice": np.stack([dice(own) for own in self.counts.values()]),
            "sensitivity": np.stack([sensitivity(own) for own in self.counts.values()]),
        }
        if self.distances:
            found["hd95"] = np.array(
                [
                    [
                        self.hd95(own, counts)
                        for own, counts in zip(self.away[patient], counted, strict=True)
                    ]
                    for patient, counted in self.counts.items()
                ]
            )
        return found

    def hd95(self, away: list[np.ndarray], counts: Int64[np.ndarray, "3"]) -> float:
        """The 95th percentile of one class's distances of a patient."""
        if away:
            return float(np.percentile(np.concatenate(away), 95))
        return self.diagonal if counts.any() else np.nan

    def scores(self, name: str) -> dict[str, float]:
        """The mean over patients of each score, of each class where there are several, and the spread
        of Dice over patients, as `dice_NAME`, `dice_NAME_CLASS`, `dice_NAME_spread`, …"""
        found: dict[str, float] = {}
        for score, values in self.of_patients().items():
            each = mean(values.T)
            known = [own for own in each if own == own]
            if not known:  # of no patient, for instance sensitivity where nothing is true
                continue
            found[f"{score}_{name}"] = float(np.mean(known))
            if score == "dice":
                found[f"dice_{name}_spread"] = float(values.mean(1).std())
            if len(each) > 1:
                for kind, own in zip(self.classes, each, strict=True):
                    if own == own:
                        found[f"{score}_{name}_{kind}"] = own
        return found


def mean(values: Float64[np.ndarray, "k p"]) -> list[float]:
    """The mean of each row over the patients of whom it is a number."""
    return [float(own[~np.isnan(own)].mean()) if (own == own).any() else np.nan for own in values]
