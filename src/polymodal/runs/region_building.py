"""Regions of whole datasets: computed once into a folder, and how much of the truth they hold."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.base.progress import say
from polymodal.data.proposals import there
from polymodal.data.records import Dataset
from polymodal.data.region_files import Regions, open_regions, write_regions
from polymodal.data.sources import open_splits, report_skipped
from polymodal.metrics.box_recall import box_recall
from polymodal.nn.regions import proposer, regions_of


def compute_regions(
    data: str,
    out: Path,
    description: Mapping[str, Any],
    *,
    dtype: str = "float16",
    batch_size: int = 32,
    device: str = "cpu",
    skip_bad: bool = False,
    wait: bool = False,
) -> dict[str, dict[str, float]]:
    """Compute the regions of every split of a dataset once; give the recall of each whose boxes are known."""
    if batch_size < 1:
        raise PolymodalError(f"batch_size must be at least 1, not {batch_size}.")
    splits = open_splits(data, skip_bad=skip_bad)
    report_skipped(splits)
    made = proposer(description, device)

    def compute(split: Dataset, images: range) -> Iterator[Regions]:
        return regions_of(split, images, made, batch_size)

    write_regions(splits, compute, out, description, dtype=dtype, wait=wait)
    say(f"Regions of {sum(map(len, splits.values()))} images are in {out}.")
    opened = open_regions(out, splits)
    return {
        n: box_recall(truth(split)) for n, split in opened.items() if "regions" in split.columns
    }


def truth(split: Dataset) -> Iterator[tuple[Tensor, Tensor]]:
    """True boxes and proposals of each image of a split that has both."""
    regions, proposals = split.columns["regions"], split.columns["proposals"]
    for row in range(len(split)):
        boxes = [region.box for region in regions[row] or () if region.box is not None]
        proposed = proposals[row]
        true = torch.tensor(boxes, dtype=torch.float32).reshape(-1, 4)
        yield true, torch.from_numpy(proposed[there(proposed)])
