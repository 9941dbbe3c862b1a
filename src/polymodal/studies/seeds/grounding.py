"""Phrase grounding (002): what a language model brings, and what the bound says of grounding."""

from dataclasses import replace

from polymodal.studies.result_files import PaperRow
from polymodal.studies.study import Paper, Recipe, Scale, Study
from polymodal.systems.grounding import grounding, mlm
from polymodal.training.training_config import Training

METRICS = ("r1", "r5", "r10", "pointing", "upper_bound", "largest", "random", "bound")

WORDS = Recipe(
    name="language model",
    system="mlm",
    model=mlm.Config(),
    training=Training(max_steps=500, batch_size=128, val_every=100),
)
"""The small language model, short enough that p/q tells synonyms apart."""

MODEL = grounding.Config(dim=128, lr=1e-3, candidates=10, kept=6)
TRAINING = Training(max_steps=1500, batch_size=50, val_every=150)


def table2(model: grounding.Config, training: Training, words: Recipe) -> tuple[Recipe, ...]:
    """The five rows of Table 2: negatives, and whether the language model was trained before."""
    rows: tuple[tuple[grounding.Kind, bool], ...] = (
        ("none", False),
        ("none", True),
        ("random", True),
        ("plausible", True),
        ("reranked", True),
    )
    return tuple(
        Recipe(
            name=f"{negatives}/{'pretrained' if trained else 'random'}",
            system="grounding",
            model=replace(model, negatives=negatives),
            training=training,
            parts=(("words", words),) if trained else (),
        )
        for negatives, trained in rows
    )


def quick(rows: tuple[Recipe, ...]) -> tuple[Recipe, ...]:
    """The same in a few steps."""

    def short(row: Recipe) -> Recipe:
        return replace(row, training=replace(row.training, max_steps=10, val_every=10))

    return tuple(
        replace(short(row), parts=tuple((part, short(phase)) for part, phase in row.parts))
        for row in rows
    )


def paper(name: str, r1: float, r5: float, r10: float, pointing: float) -> PaperRow:
    """A row of the paper's Table 2."""
    return PaperRow(name=name, metrics={"r1": r1, "r5": r5, "r10": r10, "pointing": pointing})


PAPER_ROWS = (
    paper("none/random", 25.66, 59.57, 75.16, 57.37),
    paper("none/pretrained", 35.74, 72.91, 82.07, 66.89),
    paper("random/pretrained", 36.32, 72.42, 81.81, 66.92),
    paper("plausible/pretrained", 48.05, 76.78, 82.97, 74.91),
    paper("reranked/pretrained", 51.67, 77.69, 83.25, 76.74),
)

ROWS = table2(MODEL, TRAINING, WORDS)

STUDIES = {
    "table2": Study(
        about="what a pretrained language model and its negative captions bring (002, Table 2)",
        scales={
            "drawn": Scale(
                rows=ROWS,
                data=("scenes,size=64,objects=2-5,train=2000,val=200,test=500",),
                only="drawn",
            ),
            "quick": Scale(
                rows=quick(ROWS), data=("scenes,size=32,train=60,val=12,test=12",), only="drawn"
            ),
        },
        metrics=METRICS,
        paper=Paper(rows=PAPER_ROWS, data="flickr30k:"),
    ),
}
