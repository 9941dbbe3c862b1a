"""The regions that a model is given: computed beforehand, or here where the data know their own boxes."""

from typing import Any

from polymodal.data.records import Dataset
from polymodal.nn.regions import with_proposals


def described(train: Dataset, count: int) -> dict[str, Any]:
    """How the regions of a split are made, how many there are of an image, and how wide their features."""
    made_by = {"finder": "truth", "count": count, "encoder": "pixels"}
    if "proposals" in train.columns:
        made_by = train.columns["proposal_features"].encoder
    one = with_regions(train.take([0]), made_by).column("proposal_features").batch([0])
    return {
        "regions": made_by,
        "region_count": one.shape[1],
        "region_width": one.shape[2],
        "size": train.images([0]).shape[1],
    }


def with_regions(dataset: Dataset, made_by: dict[str, Any]) -> Dataset:
    """A dataset with the columns of its regions, as they were computed or as `made_by` says."""
    return dataset if "proposals" in dataset.columns else with_proposals(dataset, made_by)
