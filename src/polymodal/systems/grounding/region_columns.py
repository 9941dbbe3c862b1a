"""The regions that a model is given: computed beforehand, or here where the data know their own boxes."""

from collections.abc import Mapping
from typing import Any

from polymodal.base.errors import PolymodalError
from polymodal.base.files import fingerprint
from polymodal.data.image_files import WHOLE
from polymodal.data.records import Dataset
from polymodal.nn.regions import describe, with_proposals

LATEST: dict[str, Dataset] = {}
"""Splits whose regions were computed last, by what was asked for."""

KEPT = 2
"""How many of them are kept: the training split, and one that scores are measured on."""


def described(train: Dataset, count: int) -> dict[str, Any]:
    """How the regions of a split are made, how wide their features are, and how pictures are framed."""
    regions = (
        dict(train.column("proposal_features").encoder)
        if "proposals" in train.columns
        else describe(finder="truth", count=count, encoder="pixels", geometry=True)
    )
    first = with_regions(train.take([0]), regions).column("proposal_features").batch([0])
    return {
        "regions": regions,
        "region_width": first.shape[2],
        "size": train.images([0]).shape[1],
        "whole": WHOLE.rule in train.rule,
    }


def known_regions(dataset: Dataset, learned: Mapping[str, Any]) -> Dataset:
    """A dataset with its regions, if their features are those that the model learned from."""
    found = with_regions(dataset, learned["regions"])
    features = found.column("proposal_features")
    own, given = (
        {"width": width, **{key: told.get(key) for key in ("encoder", "geometry")}}
        for told, width in (
            (learned["regions"], learned["region_width"]),
            (features.encoder, features.dim),
        )
    )
    if own != given:
        raise PolymodalError(
            "The model learned from other features of regions than these:\n  "
            + "\n  ".join(f"{k}: {own[k]}, but {given[k]} here" for k in own if own[k] != given[k])
            + "\nCompute them as those of its training (`polymodal regions`), or leave out --regions."
        )
    return found


def with_regions(dataset: Dataset, regions: Mapping[str, Any]) -> Dataset:
    """A dataset with the columns of its regions, as they were computed or as they are described."""
    if "proposals" in dataset.columns:
        return dataset
    key = fingerprint([dataset.fingerprint, regions])
    if key not in LATEST:
        found = with_proposals(dataset, regions)
        while len(LATEST) >= KEPT:
            del LATEST[next(iter(LATEST))]
        LATEST[key] = found
    return LATEST[key]
