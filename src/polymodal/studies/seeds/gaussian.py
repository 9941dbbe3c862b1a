"""Gaussian retrieval (001): its tables and the measures of its claims, all rows with the same budget."""

from dataclasses import replace
from typing import Any

from polymodal.studies.result_files import PaperRow
from polymodal.studies.seeds.vse import RECALLS, paper
from polymodal.studies.study import Measuring, Paper, Recipe, Scale, Study
from polymodal.systems.retrieval import gaussian, vse
from polymodal.systems.retrieval.uncertainty_probes import (
    entropy_of_parts,
    extent_of,
    uncertainty_of,
)
from polymodal.training.training_config import Training

TABLE_1 = {
    "VSE++": (58.3, 86.1, 93.3, 43.6, 77.6, 87.8),
    "GCE spherical mahalanobis": (58.1, 86.1, 93.8, 43.3, 78.0, 88.3),
    "GCE ellipsoidal mahalanobis": (57.3, 85.5, 93.1, 43.9, 77.9, 88.4),
    "GIE spherical mahalanobis": (58.0, 85.8, 92.7, 43.6, 77.6, 88.1),
    "GIE ellipsoidal mahalanobis": (58.2, 86.0, 93.5, 44.2, 78.2, 88.5),
    "GCIE spherical kl": (56.4, 85.0, 92.4, 42.0, 76.4, 87.3),
    "GCIE ellipsoidal kl": (57.8, 86.6, 94.0, 44.8, 79.0, 89.0),
    "GCIE spherical min_kl": (55.9, 84.2, 92.6, 41.8, 76.3, 87.2),
    "GCIE ellipsoidal min_kl": (58.2, 85.6, 93.1, 44.9, 78.6, 89.0),
    "GCIE spherical wasserstein": (57.3, 85.9, 93.2, 43.8, 77.7, 88.1),
    "GCIE ellipsoidal wasserstein": (59.0, 87.0, 93.6, 45.1, 79.2, 89.2),
}
"""001, Table 1: recalls with a frozen ResNet-152, COCO, the mean of five folds of 1000 images."""

TABLE_2 = {
    "VSE++": (64.6, 90.0, 95.7, 52.0, 84.3, 92.0),
    "GCE spherical mahalanobis": (63.9, 89.4, 95.4, 51.6, 84.1, 92.1),
    "GCE ellipsoidal mahalanobis": (63.4, 89.0, 95.5, 52.2, 84.2, 92.4),
    "GIE spherical mahalanobis": (54.4, 82.7, 91.3, 40.0, 73.7, 85.0),
    "GIE ellipsoidal mahalanobis": (61.8, 88.3, 95.0, 48.7, 82.2, 91.1),
    "GCIE spherical kl": (61.0, 88.9, 95.0, 49.9, 83.3, 91.7),
    "GCIE ellipsoidal kl": (64.7, 90.8, 96.3, 51.6, 84.0, 92.2),
    "GCIE spherical min_kl": (60.4, 87.7, 94.6, 49.0, 82.7, 91.5),
    "GCIE ellipsoidal min_kl": (66.4, 91.3, 96.5, 52.5, 84.6, 92.7),
    "GCIE spherical wasserstein": (61.8, 88.8, 94.7, 50.9, 83.7, 92.1),
    "GCIE ellipsoidal wasserstein": (66.9, 90.6, 96.2, 52.4, 84.6, 92.7),
}
"""001, Table 2: the same with the image encoder fine-tuned."""

ENCODER = "efficientnet-lite0"

CHOICES: dict[str, tuple[tuple[str, tuple[Any, ...]], ...]] = {
    "vse": (("lr", (2e-4, 5e-4)), ("scale", (0.3, 1.0))),
    "gaussian": (("log_var_start", (-1.0, -2.0)), ("scale", (0.3, 1.0))),
}
"""What 001 does not say, or says for other data, and the validation split chooses: four ways a row."""


def model(name: str, **settings: Any) -> tuple[str, Any]:
    """The system and the config of a row by its name in the paper."""
    if name == "VSE++":
        return "vse", vse.Config(**settings)
    kind, covariance, similarity = name.split()
    given = {"model": kind, "covariance": covariance, "similarity": similarity}
    return "gaussian", gaussian.Config(**{**settings, **given})


def frozen(name: str, training: Training, **settings: Any) -> Recipe:
    """A row of Table 1: features of a frozen image encoder."""
    system, config = model(name, **settings)
    return Recipe(
        name=name,
        system=system,
        model=config,
        training=training,
        encoder=ENCODER,
        choices=CHOICES[system],
    )


def finetuned(
    first: Recipe, training: Training, rates: tuple[float, ...], freeze_norm: bool = False
) -> Recipe:
    """A row of Table 2: from a row of Table 1 on, with the image encoder; GIE spherical at a tenth of
    the rate, as in the paper (001, §3.1)."""
    share = 0.1 if first.name == "GIE spherical mahalanobis" else 1.0
    scaled = tuple(share * rate for rate in rates)
    config = replace(
        first.model,
        image_encoder=ENCODER,
        finetune=True,
        freeze_norm=freeze_norm,
        warmup=0,
        lr=scaled[0],
        decay_at=1.0,
    )
    return replace(
        first,
        model=config,
        training=training,
        encoder=None,
        first=first,
        choices=(("lr", scaled),) if len(scaled) > 1 else (),
    )


def after(rows: tuple[Recipe, ...], training: Training, **how: Any) -> tuple[Recipe, ...]:
    """The rows of Table 2, from those of Table 1."""
    return tuple(finetuned(row, training, **how) for row in rows)


PAPER = Training(epochs=30, batch_size=128)
PAPER_1 = tuple(replace(frozen(name, PAPER), choices=()) for name in TABLE_1)
PAPER_2 = after(PAPER_1, replace(PAPER, epochs=15), rates=(2e-5,))
"""The paper's own sizes, rates and epochs, which are the systems' defaults."""

BUDGET = Training(epochs=10, batch_size=128, resident=True, checkpoint_every=500)
"""The budget of every row of Table 1 on a few thousand images."""

FEW = {"embed_dim": 512, "hidden": 512, "lr": 5e-4, "decay_at": 0.7, "warmup": 113}
"""For a few thousand photographs, all rows alike: one epoch of summed negatives, then the hardest."""
FEW_1 = tuple(frozen(name, BUDGET, **FEW) for name in TABLE_1)
FEW_2 = after(FEW_1, replace(BUDGET, epochs=2, val_every=57), rates=(1e-4, 3e-4), freeze_norm=True)

SCENES = "scenes,size=112,train=5000,val=500,test=5000"
DRAWN = {"embed_dim": 512, "hidden": 512, "lr": 5e-4, "decay_at": 0.7, "negatives": "sum"}
"""For scenes: a short caption is true of many, so negatives are summed throughout (vse/negatives)."""
DRAWN_1 = tuple(frozen(name, BUDGET, **DRAWN) for name in TABLE_1)
DRAWN_2 = after(DRAWN_1, replace(BUDGET, epochs=2), rates=(1e-4, 3e-4), freeze_norm=True)

TINY = Training(max_steps=10, batch_size=16, resident=True)
QUICK = {"embed_dim": 16, "hidden": 16, "word_dim": 16}
QUICK_1 = tuple(
    replace(row, choices=row.choices[:1]) for row in (frozen(n, TINY, **QUICK) for n in TABLE_1)
)
QUICK_2 = after(QUICK_1, replace(TINY, max_steps=2), rates=(5e-5, 1e-4))
QUICK_DATA = "scenes,size=48,train=30,val=12,test=12"

TABLE_3 = {
    "moped_caption": 18.19, "moped_image": 26.14, "helmet_caption": 15.51, "helmet_image": 19.05,
    "yard_caption": 19.20, "yard_image": 21.51, "pool_caption": 10.52, "pool_image": 12.39,
    "wall_caption": 15.48, "wall_image": 14.66, "dog_caption": 14.28, "dog_image": 20.65,
}  # fmt: skip
"""001, Table 3: entropies of two images, their captions, and parts of both."""

EXTENT = {
    "VSE++": {"image_given_crop": 58.0, "image_given_whole": 69.0, "image_balanced": 63.5,
              "caption_given_crop": 97.0, "caption_given_whole": 13.0, "caption_balanced": 55.0},
    "GCIE ellipsoidal wasserstein": {
              "image_given_crop": 61.0, "image_given_whole": 77.0, "image_balanced": 69.0,
              "caption_given_crop": 82.0, "caption_given_whole": 53.0, "caption_balanced": 67.5},
}  # fmt: skip
"""001, §3.4: on Visual Genome, 2,850 items; the balanced figures are the means of two."""


def gaussian_scales(
    drawn: tuple[Recipe, ...], small: tuple[Recipe, ...], quick: tuple[Recipe, ...]
) -> dict[str, Scale]:
    """Rows for scenes, for a few thousand photographs, and for a quick test."""
    return {
        "drawn": Scale(rows=drawn, data=(SCENES,), only="drawn"),
        "small": Scale(rows=small, only="files"),
        "quick": Scale(rows=quick, data=(QUICK_DATA,)),
    }


SCALES_1 = gaussian_scales(DRAWN_1, FEW_1, QUICK_1)
SCALES_2 = gaussian_scales(DRAWN_2, FEW_2, QUICK_2)

STUDIES = {
    "table1": Study(
        about="the eleven rows of Table 1: frozen image features, equal budgets",
        scales={**SCALES_1, "paper": Scale(rows=PAPER_1, data=(SCENES,))},
        metrics=RECALLS,
        measuring=Measuring(folds=True),
        paper=Paper(rows=tuple(paper(name, *row) for name, row in TABLE_1.items())),
    ),
    "table2": Study(
        about="the eleven rows of Table 2: the image encoder fine-tuned from the rows of Table 1",
        scales={**SCALES_2, "paper": Scale(rows=PAPER_2, data=(SCENES,))},
        metrics=RECALLS,
        measuring=Measuring(folds=True),
        paper=Paper(rows=tuple(paper(name, *row) for name, row in TABLE_2.items())),
    ),
    "table3": Study(
        about="entropy of captions and their truncations, of images and their crops",
        scales=SCALES_1,
        metrics=(
            "caption_falls", "caption_whole", "caption_part",
            "image_falls", "image_whole", "image_part",
        ),
        measuring=Measuring(probe=entropy_of_parts),
        paper=Paper(rows=(PaperRow(name="GCIE (one of them)", metrics=TABLE_3),)),
    ),
    "extent": Study(
        about="choice of the text, or the image, of the right extent (§3.4), on synthetic scenes",
        scales={
            "drawn": SCALES_1["drawn"],
            "quick": replace(SCALES_1["quick"], only="drawn"),
        },
        metrics=(
            "image_given_crop", "image_given_whole", "image_balanced",
            "caption_given_crop", "caption_given_whole", "caption_balanced",
        ),
        measuring=Measuring(probe=extent_of),
        paper=Paper(rows=tuple(PaperRow(name=n, metrics=row) for n, row in EXTENT.items())),
    ),
    "uncertainty": Study(
        about="how well a query's entropy predicts errors",
        scales=SCALES_1,
        metrics=(
            "caption_auroc", "caption_score_auroc", "caption_risk_10", "caption_risk_100",
            "image_auroc", "image_score_auroc", "image_risk_10", "image_risk_100",
        ),
        measuring=Measuring(probe=uncertainty_of),
    ),
}  # fmt: skip
