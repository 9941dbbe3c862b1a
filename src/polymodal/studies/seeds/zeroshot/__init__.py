"""Zero-shot learning from scratch (003, ch. 4): its tables on CUB, or on drawn birds, in two blocks.

`as-written` has the thesis's optimiser and augmentation, as near as the text allows (A.2). `strong` has
one recipe for all rows: a higher rate that decays, flips, dropout where it helps, a local loss with a hidden
layer. All rows of an encoder have as many passes. Models are trained on all seen classes, and the last step
is taken: the unseen classes are scored once.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from polymodal.data.records import Dataset
from polymodal.diagnosis.compositionality import Fit, tre_ratios
from polymodal.diagnosis.encoder_measures import described, examine, parts_scores
from polymodal.diagnosis.examination import Settings
from polymodal.diagnosis.locality import Probing
from polymodal.diagnosis.parts_ratio import Relating
from polymodal.diagnosis.pointwise import Mining
from polymodal.studies.figures.heatmaps import heatmaps
from polymodal.studies.result_files import PaperRow
from polymodal.studies.seeds.zeroshot import thesis
from polymodal.studies.seeds.zeroshot.choices import CHOOSING, CHOOSING_SMALL, FITTED_TO
from polymodal.studies.seeds.zeroshot.conclusions import all_related
from polymodal.studies.seeds.zeroshot.prototype_trials import prototype_trials
from polymodal.studies.seeds.zeroshot.zeroshot_recipes import (
    ALEX,
    BEYOND,
    EPOCHS,
    LOCAL,
    MODELS,
    OURS,
    RECONSTRUCTING,
    TOLD_CLASSES,
    drawn_rows,
    row,
    small,
)
from polymodal.studies.study import Measuring, Paper, Probe, Recipe, Scale, Study
from polymodal.systems.zeroshot.learner import Learner
from polymodal.systems.zeroshot.place_predictions import local_scores
from polymodal.training.training_config import Training

MEASURED = Settings(fit="trainval", images=8000)
"""What is fitted to features is fitted to all images of seen classes, as the encoder was."""

SMALL_MEASURED = replace(MEASURED, images=3000)
"""For small encoders, so that a row is measured in less time than it is trained."""

TINY = Training(max_steps=6, batch_size=16, resident=True, final=True)
TINIER: dict[str, Any] = {"slim": 16, "dim": 16, "fit_steps": 5}
NARROW: dict[str, dict[str, Any]] = {
    name: {"critic_hidden": 16} for name in ("dim", "amdim", "cmdim")
} | {
    "vae": {"code": 8},
    "aae": {"code": 8, "hidden": 16},
    "vicreg": {"expander": 16},
    "dino": {"hidden": 16, "code": 8, "outputs": 16},
}
QUICK_MEASURED = replace(
    MEASURED,
    images=30,
    tre=Fit(restarts=2, most=20),
    parts=Probing(steps=10),
    heatmaps=Mining(hidden=16, steps=10),
    ratio=Relating(pairs=50),
)
QUICK_DATA = "birds,size=64,train=70,val=20,test_seen=45,test=30"


def tiny(rows: tuple[Recipe, ...], probe: Probe | None = None) -> tuple[Recipe, ...]:
    """The same rows with tiny models, few steps and one seed each."""
    return tuple(
        replace(
            row,
            model=replace(row.model, **TINIER, **NARROW.get(row.system, {})),
            training=replace(TINY, final=row.training.final),
            seeds=1,
            probe=probe,
        )
        for row in rows
    )


def scales(
    rows: tuple[Recipe, ...],
    *,
    small: tuple[Recipe, ...] = (),
    drawn: tuple[Recipe, ...] = (),
    size: int = 64,
    quick_probe: Probe | None = None,
) -> dict[str, Scale]:
    """The rows of a table, and those for images of a small size. Those for drawn birds come first."""
    birds = (f"birds,size={size}" if drawn else "birds",)
    return {
        **({"drawn": Scale(rows=drawn, data=birds, only="drawn")} if drawn else {}),
        "paper": Scale(rows=rows, data=birds),
        **({"small": Scale(rows=small, only="files", image_size=size)} if small else {}),
        "quick": Scale(rows=tiny(rows, quick_probe), data=(QUICK_DATA,)),
    }


def on_cub(rows: tuple[PaperRow, ...]) -> Paper:
    """Figures of the thesis, which are of CUB."""
    return Paper(rows=rows, data="cub:")


TABLE = tuple(
    row(block, encoder, model, local)
    for block in EPOCHS
    for encoder, models, losses in (
        ("basic", MODELS, LOCAL),
        ("basic", BEYOND if block == "strong" else (), ("", "+AC")),
        ("alex", ALEX, ("", "+AC")),
        ("alex", OURS if block == "strong" else (), ("", "+AC")),
        ("alex", ("FC", "CMDIM(p=1)"), ("+LC",)),
    )
    for model in models
    for local in losses
)
BASIC = [row for row in TABLE if row.model.encoder == "basic"]
DRAWN_TABLE, SMALL_TABLE = drawn_rows(BASIC), small(BASIC)
LOCALLY = tuple(
    row(block, "alex", model)
    for block, models in (("strong", MODELS), ("as-written", ALEX))
    for model in models
    if model != "PN"
)
WITH_HEATMAPS = tuple(
    replace(row("strong", "basic", model, local), seeds=1)
    for model, local in (
        ("FC", ""), ("VAE", ""), ("AAE", ""), ("AMDIM", ""),
        ("CMDIM(p=1)", ""), ("CMDIM(p=1)", "+AC"), ("CMDIM(p=1)", "+LC"),
    )
)  # fmt: skip


def longer(training: Training, times: float) -> Training:
    """With this many times the epochs."""
    return replace(training, epochs=times * training.epochs)


PLATEAU = tuple(
    replace(recipe, name=f"{recipe.name} ×{times}", seeds=1)
    for block, encoder in (("strong", "basic"), ("as-written", "basic"), ("strong", "alex"))
    for model in ("FC", "CMDIM(p=1)")
    for times in (1, 2, 4)
    for recipe in [row(block, encoder, model, "+AC", times)]
)
"""The first of each is the table's own."""

SMALL_PLATEAU = tuple(
    replace(row, name=f"{row.name} ×{times}", training=longer(row.training, times))
    for row in SMALL_TABLE
    if row.name in ("basic/FC+AC", "basic/CMDIM(p=1)+AC")
    for times in (1, 2, 4)
)


def with_accuracy(
    system: Learner, splits: Mapping[str, Dataset], *, measure: Any, how: Settings
) -> dict[str, float]:
    """What is measured of a row, with the accuracy that it is compared with."""
    accuracy = system.evaluate(splits["test"])["zsl_top1"]
    return {"zsl_top1": accuracy, **measure(system, splits, how)}


def tre_of_both(system: Learner, splits: Mapping[str, Dataset], how: Settings) -> dict[str, float]:
    """Of unseen classes, and of other images of the seen ones: the thesis does not say of which (A.8)."""
    unseen = examine(system, splits, "tre", how)
    other = examine(system, splits, "tre", replace(how, test="test_seen"))
    tests = [described(one, "test") for one in (unseen, other)]
    scores, of_seen = tre_ratios(described(unseen, "fit"), tests, how.tre)
    return scores | {"tre_ratio_seen": of_seen["tre_ratio"]}


def compared(
    about: str, measure: Any, axes: Mapping[str, str], paper: Paper, shown: str = ""
) -> Study:
    """A table of metrics that may correlate with accuracy, over the rows of Table A.2: one seed each, on
    drawn birds three."""

    def probe(how: Settings) -> Probe:
        return partial(with_accuracy, measure=measure, how=how)

    conclusion = partial(
        all_related,
        axes=axes,
        aside=RECONSTRUCTING,
        told_classes=TOLD_CLASSES,
        beyond=tuple(BEYOND),
        shown=shown,
    )
    return Study(
        about=about,
        scales=scales(
            tuple(replace(row, seeds=1) for row in TABLE),
            drawn=tuple(replace(row, probe=probe(SMALL_MEASURED)) for row in DRAWN_TABLE),
            small=tuple(replace(row, probe=probe(SMALL_MEASURED)) for row in SMALL_TABLE),
            quick_probe=probe(QUICK_MEASURED),
        ),
        metrics=("zsl_top1", *axes),
        measuring=Measuring(probe=probe(MEASURED), conclusion=conclusion),
        paper=paper,
    )


STUDIES = {
    "cub": Study(
        about="every model × local loss, as written and with one strong recipe (Table A.2)",
        scales=scales(TABLE, drawn=DRAWN_TABLE, small=SMALL_TABLE),
        metrics=(
            "zsl_top1", "chance", "zsl_top1_ridge", "gzsl_seen", "gzsl_unseen", "gzsl_harmonic",
        ),
        measuring=Measuring(from_studies=(("tre", "tre_ratio"), ("parts", "parts_f1"))),
        paper=on_cub(
            thesis.paper(
                zsl_top1=thesis.ACCURACY, tre_ratio=thesis.TRE_RATIO, parts_f1=thesis.PARTS_F1
            )
        ),
    ),
    "local": Study(
        about="classes from AlexNet's local features: averaged representations or predictions (Table A.3)",
        scales=scales(
            LOCALLY,
            drawn=drawn_rows(LOCALLY),
            small=small(LOCALLY),
            size=128,  # of smaller images each position sees all, so that there is nothing to average
        ),
        metrics=("zsl_top1", *thesis.PLACES),
        measuring=Measuring(probe=local_scores),
        paper=on_cub(thesis.paper_of_places()),
    ),
    "tre": compared(
        "correlation of the TRE ratio with zero-shot accuracy (Fig. 4.5)",
        tre_of_both,
        {
            "tre_ratio": "TRE ratio",
            "tre_ratio_stopped": "TRE ratio, fits stopped by held-out classes",
            "tre_ratio_seen": "TRE ratio of seen classes",
        },
        paper=on_cub(thesis.paper(tre_ratio=thesis.TRE_RATIO, zsl_top1=thesis.ACCURACY)),
    ),
    "parts": compared(
        "correlation of the parts F1 with zero-shot accuracy (Fig. 4.2)",
        parts_scores,
        {"parts_f1": "parts F1", "parts_f1_tuned": "parts F1 at the best thresholds"},
        shown="basic/",  # with another grid of local features it is not comparable
        paper=on_cub(thesis.paper(parts_f1=thesis.PARTS_F1, zsl_top1=thesis.ACCURACY)),
    ),
    "heatmaps": Study(
        about="heatmaps of pointwise mutual information between images (Fig. 4.4)",
        scales=scales(
            WITH_HEATMAPS,
            drawn=drawn_rows(WITH_HEATMAPS),
            small=small(WITH_HEATMAPS),
            quick_probe=partial(heatmaps, how=QUICK_MEASURED),
        ),
        measuring=Measuring(probe=partial(heatmaps, how=MEASURED), draws=True),
    ),
    "plateau": Study(
        about="CMDIM and FC with two and four times the budget",
        scales=scales(PLATEAU, small=SMALL_PLATEAU),
        metrics=("zsl_top1", "zsl_top1_ridge"),
    ),
    "choices": Study(
        about="budgets, learning rate, dropout, critic and scales, selected on the validation classes",
        scales=scales(CHOOSING, small=CHOOSING_SMALL),
        metrics=("zsl_top1", "zsl_top1_ridge"),
        measuring=Measuring(split="val"),
    ),
    "prototypes": Study(
        about="ways to fit prototypes to the features of one encoder, scored on the validation classes",
        scales=scales(FITTED_TO, quick_probe=prototype_trials),
        metrics=("unit_40", "unit_fast_20", "unit_views_40", "centred_40", "all_100", "ridge_1"),
        measuring=Measuring(probe=prototype_trials),
    ),
}  # fmt: skip
