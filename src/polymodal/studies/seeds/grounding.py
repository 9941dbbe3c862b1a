"""Phrase grounding (002): what a language model brings, and what the bound says of grounding."""

from dataclasses import replace
from typing import Any

from polymodal.studies.figures.bound_curves import bound_curves, curve_metrics
from polymodal.studies.result_files import PaperRow
from polymodal.studies.study import QUICK, SMALL, Measuring, Paper, Recipe, Scale, Study
from polymodal.systems.grounding import grounding, mlm
from polymodal.training.training_config import Training

METRICS = ("r1", "r5", "r10", "pointing", "upper_bound", "largest", "random", "bound")

SCENES = "scenes,size=96,objects=1-3,train=4000,val=200,test=500"
"""Of more objects nearly every picture has something large, something of metal and a cube: such words then
tell nothing of their image, and only colours are learned."""
QUICK_SCENES = "scenes,size=32,train=60,val=12,test=12"

# Scenes, on two cores

WORDS = Recipe(
    name="language model",
    system="mlm",
    model=mlm.Config(),
    training=Training(max_steps=500, batch_size=128, val_every=100),
)
"""The small language model, short enough that p/q tells synonyms apart."""

MODEL = grounding.Config(dim=128, lr=1e-3, candidates=8, kept=4)
TRAINING = Training(max_steps=1500, batch_size=50, val_every=150)

# Photos, on two cores

PHOTO_WORDS = replace(WORDS, training=Training(max_steps=1500, batch_size=128, val_every=500))
PHOTO_MODEL = grounding.Config(lr=5e-4, candidates=15, kept=12)
"""Half as many candidates as the paper's: what the language model says of them is most of the work."""
PHOTO_TRAINING = Training(max_steps=1500, batch_size=50, val_every=150)

Rows = tuple[Recipe, ...]


def row(
    name: str, model: grounding.Config, training: Training, words: Recipe | None, **settings: Any
) -> Recipe:
    """A grounding model, with a language model that was trained before where there is one."""
    return Recipe(
        name=name,
        system="grounding",
        model=replace(model, **settings),
        training=training,
        regions=True,
        parts=(("words", words),) if words else (),
    )


def table2(model: grounding.Config, training: Training, words: Recipe) -> Rows:
    """The five rows of Table 2: negatives, and whether the language model was trained before."""
    rows: tuple[tuple[grounding.Kind, bool], ...] = (
        ("none", False),
        ("none", True),
        ("random", True),
        ("plausible", True),
        ("reranked", True),
    )
    return tuple(
        row(
            f"{negatives}/{'pretrained' if trained else 'random'}",
            model,
            training,
            words if trained else None,
            negatives=negatives,
        )
        for negatives, trained in rows
    )


def figure4(model: grounding.Config, training: Training, words: Recipe) -> Rows:
    """The three choices of maps of Figure 4. Only L_img is trained, whose bound the figure shows."""
    names = ("linear", "1 hidden layer", "2 hidden layers")
    return tuple(
        row(name, model, training, words, negatives="none", hidden=hidden)
        for hidden, name in enumerate(names)
    )


def quick(rows: Rows) -> Rows:
    """The same in a few steps."""

    def short(row: Recipe) -> Recipe:
        return replace(row, training=replace(row.training, max_steps=10, val_every=5))

    return tuple(
        replace(short(row), parts=tuple((part, short(phase)) for part, phase in row.parts))
        for row in rows
    )


def scales(drawn: Rows, photos: Rows) -> dict[str, Scale]:
    """Rows for scenes, for photos, and for a test of minutes."""
    return {
        "drawn": Scale(rows=drawn, data=(SCENES,), only="drawn"),
        SMALL: Scale(rows=photos, only="files"),
        QUICK: Scale(rows=quick(drawn), data=(QUICK_SCENES,), only="drawn"),
    }


def paper(name: str, pointing: float, *recalls: float) -> PaperRow:
    """A row of the paper: pointing accuracy, and R@1, 5 and 10 where they are given."""
    named = dict(zip(("r1", "r5", "r10"), recalls, strict=False))
    return PaperRow(name=name, metrics={**named, "pointing": pointing})


TABLE2 = (
    paper("none/random", 57.37, 25.66, 59.57, 75.16),
    paper("none/pretrained", 66.89, 35.74, 72.91, 82.07),
    paper("random/pretrained", 66.92, 36.32, 72.42, 81.81),
    paper("plausible/pretrained", 74.91, 48.05, 76.78, 82.97),
    paper("reranked/pretrained", 76.74, 51.67, 77.69, 83.25),
)

TABLE1 = (
    paper("Akbari et al., VGG", 61.66),
    paper("Align2Ground", 71.00),
    paper("InfoGround, Flickr30K", 74.94, 47.88, 76.63, 82.91),
    paper("InfoGround, COCO", 76.74, 51.67, 77.69, 83.25),
)

DRAWN_ROWS = table2(MODEL, TRAINING, WORDS)
PHOTO_ROWS = table2(PHOTO_MODEL, PHOTO_TRAINING, PHOTO_WORDS)

STUDIES = {
    "table2": Study(
        about="what a pretrained language model and its negative captions bring (002, Table 2)",
        scales=scales(DRAWN_ROWS, PHOTO_ROWS),
        metrics=METRICS,
        paper=Paper(rows=TABLE2, data="flickr30k:"),
    ),
    "baselines": Study(
        about="grounding beside what needs no model: random, largest, central region (002, Table 1)",
        scales=scales(
            (replace(DRAWN_ROWS[-1], name="InfoGround"),),
            (replace(PHOTO_ROWS[-1], name="InfoGround"),),
        ),
        metrics=(
            *("r1", "random_r1", "largest_r1", "central_r1", "upper_bound"),
            *("pointing", "random", "largest", "central", "entropy_auroc"),
        ),
        paper=Paper(rows=TABLE1, data="flickr30k:"),
    ),
    "figure4": Study(
        about="the bound on held-out data against grounding, as training goes on (002, Fig. 4)",
        scales=scales(
            figure4(MODEL, replace(TRAINING, max_steps=3000, val_every=100), WORDS),
            figure4(PHOTO_MODEL, replace(PHOTO_TRAINING, max_steps=4000), PHOTO_WORDS),
        ),
        metrics=(
            *("peak_step", "peak_pointing", "last_pointing"),
            *("bound_at_peak", "last_bound"),
        ),
        measuring=Measuring(of_curves=curve_metrics, conclusion=bound_curves),
    ),
}
