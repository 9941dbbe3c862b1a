"""Recipes of CMIM and of what it is compared with, at every scale (003, chapter 8)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from polymodal.studies.result_files import Metrics
from polymodal.studies.study import Recipe
from polymodal.systems.medical import cmim, findings, hemis, shaspec, tienet, unet
from polymodal.training.training_config import Training

Rows = tuple[Recipe, ...]

MODALITIES = ("flair", "t1", "t1c", "t2")
ENHANCING = (3,)
"""The label of the one class to find where masks have several, as in the thesis (§8.4.3)."""

BOUNDS: Mapping[str, Mapping[str, Any]] = {
    "none": {"lambda_ll": 0.0, "lambda_lg": 0.0},
    "ll": {"lambda_ll": 0.1, "lambda_lg": 0.0},
    "lg": {"lambda_ll": 0.0, "lambda_lg": 0.1},
    "ll+lg": {"lambda_ll": 0.1, "lambda_lg": 0.1},
    "gg": {"lambda_ll": 0.0, "lambda_lg": 0.0, "lambda_gg": 0.1},
}
"""The weights of each row of the ablation (§8.3.3)."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """What all rows of a table share at one scale."""

    training: Training
    model: Mapping[str, Any]
    """Settings of every system."""
    information: Mapping[str, Any] = field(default_factory=dict)
    """Those of the bounds."""
    reader: Mapping[str, Any] = field(default_factory=dict)
    """Those of the encoder of reports."""
    writer: Mapping[str, Any] = field(default_factory=dict)
    """Those of the network that writes reports."""


# Segmentation. All rows of a scale have the same U-Net, budget, losses and augmentation.

DRAWN_SLICES = Size(
    training=Training(max_steps=500, batch_size=16, val_every=100, precision="bf16"),
    model={
        "width": 16,
        "levels": 4,
        "lr": 3e-3,
        "dice_weight": 1.0,
        "decay": True,
        "target": ENHANCING,
        "curriculum": 100,
    },
    information={"critic_hidden": 64},
)
"""At a third of this rate, and with half the weight of the Dice loss, U-Nets of one modality found nothing on
validation for one seed of two until the budget ended."""
SMALL_SLICES = replace(
    DRAWN_SLICES,
    model={**DRAWN_SLICES.model, "target": ()},
)
"""For slices whose mask has one class."""
FULL_SLICES = Size(
    training=Training(epochs=60, batch_size=32),
    model={"width": 32, "levels": 5, "lr": 1e-3, "dice_weight": 0.5, "decay": True},
    information={"critic_hidden": 512},
)
QUICK_SLICES = Size(
    training=Training(max_steps=2, batch_size=4, val_every=2),
    model={**DRAWN_SLICES.model, "width": 8, "levels": 3, "curriculum": 1},
    information={"critic_hidden": 8},
)

# Findings

DRAWN_FILMS = Size(
    training=Training(max_steps=600, batch_size=32, val_every=100, precision="bf16"),
    model={"convnet_width": 16, "word_dim": 50, "lr": 1e-3},
    information={"critic_hidden": 64},
    reader={"text_width": 64, "text_blocks": 2, "embed_dim": 64},
    writer={"hidden": 64},
)
SMALL_FILMS = Size(
    training=Training(max_steps=400, batch_size=32, val_every=100, precision="bf16"),
    model={"image_encoder": "efficientnet-lite0", "word_dim": 50, "lr": 2e-4},
    information={"critic_hidden": 128},
    reader={"text_width": 64, "text_blocks": 2, "embed_dim": 128},
    writer={"hidden": 128},
)
FULL_FILMS = Size(
    training=Training(epochs=20, batch_size=32),
    model={"image_encoder": "efficientnet-lite0", "lr": 1e-4, "decay": True},
    information={"critic_hidden": 512},
)
"""EfficientNet-Lite0 in place of the thesis's ResNet-50, because its ImageNet weights need no download;
and learned word vectors, because GloVe's are a file of the user's."""
QUICK_FILMS = Size(
    training=Training(max_steps=2, batch_size=8, val_every=2),
    model={"convnet_width": 8, "word_dim": 8, "lr": 1e-3},
    information={"critic_hidden": 8},
    reader={"text_width": 8, "text_blocks": 1, "embed_dim": 8},
    writer={"hidden": 8, "attentions": 2},
)


# What a table takes of the scores of a run


def of_one(scores: Metrics) -> Metrics:
    """Scores with one modality: means over modalities are no scores of a model that has but one."""
    return {k: v for k, v in scores.items() if k not in ("dice_alone", "dice_mean", "dice_all")}


def of_all(scores: Metrics) -> Metrics:
    """Scores with all modalities, and of no smaller subset."""
    most = max(name.count("+") for name in scores)
    return {k: v for k, v in scores.items() if k == "dice_all" or k.count("+") == most}


def by_image(scores: Metrics) -> Metrics:
    """AUC by the image alone as `auc`."""
    return {**scores, **auc_by("image", scores)}


def by_both(scores: Metrics) -> Metrics:
    """AUC by image and true report as `auc`."""
    return {**scores, **auc_by("image+text", scores)}


def auc_by(seen: str, scores: Metrics) -> Metrics:
    """AUC and its interval by what is seen."""
    return {f"auc{end}": scores[f"auc_{seen}{end}"] for end in ("", "_low", "_high")}


# Rows


def informed(name: str, size: Size, **settings: Any) -> Recipe:
    """A segmentation with bounds, or with their weights at 0 without."""
    return Recipe(
        name=name,
        system="cmim",
        model=cmim.Config(**{**size.model, **size.information, **settings}),
        training=size.training,
        needs=("mask",),
    )


def segmenter(name: str, system: Any, size: Size, **settings: Any) -> Recipe:
    """A baseline of segmentation."""
    return Recipe(
        name=name,
        system=system.__name__.rpartition(".")[2],
        model=system.Config(**{**size.model, **settings}),
        training=size.training,
        needs=("mask",),
    )


def single(modality: str, size: Size) -> Recipe:
    """A U-Net of one modality; there is no such row for data that lack it."""
    row = segmenter(f"single {modality}", unet, size, modalities=(modality,))
    return replace(row, needs=("mask", modality), of_scores=of_one)


def table2(size: Size) -> Rows:
    """The rows of Table 8.2 and more; `mean` and `all` are one run, tested with a part and with all."""
    return (
        informed("CMIM", size),
        segmenter("HeMIS", hemis, size),
        segmenter("mean", unet, size),
        segmenter("MLP", unet, size, fill="mlp"),
        *(single(modality, size) for modality in MODALITIES),
        replace(segmenter("all", unet, size), of_scores=of_all),
        informed("dropout", size, **BOUNDS["none"], learn_from="random"),
        segmenter("ShaSpec", shaspec, size),
    )


def compared(size: Size) -> Rows:
    """The systems that are made for any subset."""
    return tuple(row for row in table2(size) if row.name in ("CMIM", "HeMIS", "ShaSpec"))


def teller(
    name: str, size: Size, of_scores: Callable[[Metrics], Metrics] = by_image, **settings: Any
) -> Recipe:
    """Findings from images, with reports or without."""
    shared = {**size.model, **size.information, **size.reader}
    return Recipe(
        name=name,
        system="findings",
        model=findings.Config(**{**shared, **settings}),
        training=size.training,
        needs=("targets", "text"),
        of_scores=of_scores,
    )


def table1(size: Size) -> Rows:
    """The rows of Table 8.1, and late fusion, which has the true report at test time: the ceiling."""
    written = Recipe(
        name="TieNet",
        system="tienet",
        model=tienet.Config(**{**size.model, **size.writer}),
        training=size.training,
        needs=("targets", "text"),
        of_scores=by_image,
    )
    return (
        teller("image only", size, reads="image"),
        written,
        teller("CMIM", size, **BOUNDS["ll+lg"]),
        teller("late fusion", size, by_both, **BOUNDS["none"]),
    )


def ablation(slices: Size, films: Size) -> Rows:
    """Which bounds help which task; data have the rows of their own task."""
    return (
        *(
            replace(informed(name, slices, **weights), block="segmentation")
            for name, weights in BOUNDS.items()
        ),
        *(
            replace(teller(name, films, **weights), block="findings")
            for name, weights in BOUNDS.items()
        ),
    )
