"""Settings of every segmentation system, and what it needs to know of its data."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import OneOrMore, Positive, Share, Steps, TwoOrMore, Weight, check_ranges
from polymodal.data.columns import Column, Scans
from polymodal.data.records import Dataset
from polymodal.data.scan_columns import row_shape, scan_names
from polymodal.nn.named_unets import UNetKind

BLOCK = 64
"""Scans that are read at once to learn their mean, if they are not too large."""

AT_ONCE = 2**24
"""Places of the scans that are read at once; a larger scan is read alone."""

MOST = 512
"""Scans of each modality whose mean and spread are taken for those of all, evenly spaced."""

LearnFrom = Literal["each", "random", "curriculum", "all"]
"""Which subsets of modalities the decoder learns from."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A U-Net and its training. For research: not a medical device."""

    modalities: tuple[str, ...] = ()
    """Columns that hold the scans; by default all columns that are modalities."""
    target: tuple[int, ...] = ()
    """Labels of the mask that together are the one class to find, such as enhancing tumour alone
    (003, §8.4.3); by default each label is a class of its own."""
    standardise: Literal["scan", "data"] = "scan"
    """Subtract the mean and divide by the standard deviation of each scan, or of each modality's training
    scans. MR intensities have no unit, so that files from elsewhere need scan."""
    unet: UNetKind = "ours"
    """Blocks of the U-Net: ours, or MONAI's (pip install 'polymodal[medical]')."""
    width: Positive[int] = 32
    """Feature maps of the finest level, best a multiple of 4; twice as many at each level, up to 256."""
    levels: TwoOrMore[int] = 5
    """Levels of the U-Net; the grid is halved between them."""
    patch: OneOrMore[int | None] = None
    """Side of the patches to train on, cut at random places of the scans; larger scans are then
    segmented in windows of this side. By default scans are trained on whole."""
    foreground: Share[float] = 0.5
    """How many of the patches hold foreground at least, of items that have some."""
    learn_from: LearnFrom = "each"
    """What the decoder learns from: each modality alone and all together (each), a random subset of each
    item (random: modality dropout), all first and then subsets that seldom lack much (curriculum), or
    all together."""
    curriculum: Steps[int] = 500
    """Steps with all modalities before any is dropped, for --learn-from curriculum."""
    seg_weight: Weight[float] = 1.0
    """Weight λ_S of the segmentation loss (003, eq. 8.3.6)."""
    dice_weight: Weight[float] = 0.0
    """Weight of the Dice loss beside the cross-entropy; 0 as in the thesis."""
    augment: bool = True
    """Turn, scale and flip training items, and change their brightness and contrast."""
    lr: Positive[float] = 1e-4
    """Learning rate of Adam."""
    decay: bool = False
    """Cosine decay of the learning rate to 0."""
    select: Literal["alone", "mean", "all"] = "alone"
    """Dice on validation that selects the weights: the mean over each modality alone, over all subsets
    of modalities, or that of all together."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.patch is not None and self.patch < 2 ** (self.levels - 1):
            raise PolymodalError(
                f"A patch of {self.patch} cannot be halved {self.levels - 1} times. Give --patch "
                f"{2 ** (self.levels - 1)} or more, or fewer --levels."
            )


def learn(config: Settings, train: Dataset) -> dict[str, Any]:
    """The modalities, their mean and spread, and the labels of the mask."""
    names = scan_names(train, config.modalities, "Segmentation")
    columns = {name: train.column(name) for name in names}
    shapes = {name: row_shape(column, name) for name, column in columns.items()}
    grid = shapes[names[0]][1:]
    if min(grid) < 2 ** (config.levels - 1):
        raise PolymodalError(
            f"A grid of {'×'.join(map(str, grid))} cannot be halved {config.levels - 1} times. Give "
            f"--levels {int(np.log2(min(grid))) + 1} or fewer, or larger scans."
        )
    return {
        "modalities": names,
        "channels": {name: shape[0] for name, shape in shapes.items()},
        "grid": list(grid),
        "files": {n: asdict(c.rule) for n, c in columns.items() if isinstance(c, Scans)},
        "statistics": {name: statistics(column, name) for name, column in columns.items()},
        **classes(train, config.target, grid),
    }


def block_of(places: int) -> int:
    """How many scans of so many places are read at once.

    >>> block_of(256 * 256), block_of(240 * 240 * 155)
    (64, 1)
    """
    return max(1, min(BLOCK, AT_ONCE // places))


def statistics(column: Column, name: str) -> list[float]:
    """Mean and standard deviation of a modality's scans."""
    rows = np.arange(len(column)) if column.present is None else np.flatnonzero(column.present)
    if not len(rows):
        raise PolymodalError(
            f"No training item has the modality {name!r}. Leave it out: --modalities names the others."
        )
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), MOST)).astype(np.int64)]
    count, total, squares = 0, 0.0, 0.0
    block = block_of(column.batch([int(rows[0])]).size)
    for start in range(0, len(rows), block):
        scans = column.batch(rows[start : start + block].tolist()).astype(np.float64)
        count, total = count + scans.size, total + scans.sum()
        squares += float(np.square(scans).sum())
    mean = float(total / count)
    spread = float(np.sqrt(max(squares / count - mean**2, 0.0)))
    if not np.isfinite(mean + spread) or spread == 0:
        raise PolymodalError(
            f"The modality {name!r} has mean {mean:g} and standard deviation {spread:g} over the training "
            "items: nothing can be learned from it. Check its scans, or leave it out of --modalities."
        )
    return [mean, spread]


def classes(train: Dataset, target: tuple[int, ...], grid: tuple[int, ...]) -> dict[str, Any]:
    """The labels of masks, and the name of each class but the background."""
    column = train.column("mask", "Segmentation")
    first = column.batch([0])
    if first.dtype.kind not in "iub" or first.shape[1:] != grid:
        raise PolymodalError(
            f"A mask has a whole number for each of {'×'.join(map(str, grid))} places; found "
            f"{first.dtype} of shape {list(first.shape[1:])}."
        )
    names = getattr(column, "classes", None)
    labels = list(range(len(names))) if names else labels_of(column)
    if lost := sorted(set(target) - set(labels)):
        raise PolymodalError(
            f"--target names the labels {', '.join(map(str, lost))}, but the masks have only "
            f"{', '.join(map(str, labels))}."
        )
    if labels == [0]:
        raise PolymodalError(
            "The training masks have the label 0 alone, so that there is nothing to find."
        )
    told = [names[n] if names else f"label{n}" for n in labels if n]
    return {
        "labels": labels,
        "target": list(target),
        "classes": ["target"] if target else [name.replace(" ", "-") for name in told],
    }


def labels_of(column: Column) -> list[int]:
    """All labels in some masks, and 0."""
    found = {0}
    block = block_of(column.batch([0]).size)
    for start in range(0, len(column), block):
        rows = list(range(start, min(start + block, len(column))))
        found |= set(np.unique(column.batch(rows)).tolist())
    return sorted(map(int, found))
