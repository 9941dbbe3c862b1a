"""Zero-shot learning from scratch (003, ch. 4): its tables on CUB, or on drawn birds, in two blocks.

`as-written` has the thesis's optimiser and augmentation, as near as the text allows (A.2). `strong` has
one recipe for all rows: a higher rate that falls, mirrored pictures, dropout where it helps. In both all
rows of an encoder encode as many pictures. Models are trained on all seen classes, and the last step is
taken: the unseen classes are looked at once.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from polymodal.data.records import Dataset
from polymodal.diagnosis.compositionality import Fit
from polymodal.diagnosis.examination import Settings
from polymodal.diagnosis.locality import Probing
from polymodal.diagnosis.measuring import heatmaps, parts_scores, tre_scores
from polymodal.diagnosis.pointwise import Mining
from polymodal.diagnosis.ratio import Relating
from polymodal.recognition.places import local_scores
from polymodal.studies import Probe, Recipe, Study
from polymodal.studies.zeroshot import thesis
from polymodal.studies.zeroshot.conclusions import related
from polymodal.systems import named
from polymodal.training import Training

MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "FC": ("fc", {}),
    "VAE": ("vae", {}),
    "beta-VAE": ("vae", {"beta": 4.0}),
    "AAE": ("aae", {}),
    "DIM": ("dim", {}),
    "AMDIM": ("amdim", {}),
    "CMDIM(p=1)": ("cmdim", {"p": 1.0}),
    "CMDIM(p=0.5)": ("cmdim", {"p": 0.5}),
    "CMDIM(p=0.1)": ("cmdim", {"p": 0.1}),
    "PN": ("pn", {}),
}
"""The thesis's models; β is not in it."""

MODERN: dict[str, tuple[str, dict[str, Any]]] = {"VICReg": ("vicreg", {}), "DINO": ("dino", {})}
"""References younger than the thesis: one seed each, with the basic encoder, without labels or with AC."""

RECONSTRUCTING = ("VAE", "beta-VAE", "AAE")
"""Models that draw what they saw: one seed each, since the thesis finds all of them far behind."""

ALEX = ("FC", "DIM", "AMDIM", "CMDIM(p=1)", "PN")
"""Models that are trained with the larger encoder for the table; those with LC tell whether it hurts CMDIM,
as the thesis finds with that encoder."""

LOCAL = {"": "none", "+AC": "attributes", "+LC": "labels"}

TWICE = ("amdim", "cmdim", "vicreg", "dino")
"""Learners that encode two pictures a step for each that they are given: half as many epochs."""

EPOCHS: dict[str, dict[str, float]] = {
    "as-written": {"basic": 60, "alex": 40},
    "strong": {"basic": 120, "alex": 80},
}
"""Passes over trainval of a learner that encodes each picture once. The thesis gives no number. `choices`
and `plateau` ask what less or more would give."""

SCHEDULE = Training(
    batch_size=64,
    precision="bf16",
    record=True,
    resident=True,
    checkpoint_every=5_000,
    log_every=100,
    final=True,
)
"""Batches of 64 (003, A.2). Gradients are clipped as everywhere here, of which the thesis says nothing."""

AS_WRITTEN: dict[str, Any] = {"lr": 1e-4}
"""Adam at 1e-4, windows of 0.875, no more (003, A.2)."""

COSINES = {"bound": "infonce", "critic": "encode-and-cosine", "critic_hidden": 256}
OWN: dict[str, dict[str, dict[str, Any]]] = {
    "as-written": {
        "dim": {"bound": "donsker-varadhan"},
        "cmdim": {"bound": "donsker-varadhan"},
        "amdim": {"looks": "window"},
    },
    "strong": {"dim": COSINES, "cmdim": COSINES},
}
"""What learners have to themselves. As written the bound that A.7 names, and for all the windows of A.2; it
names no critic. In the strong block what `choices` is to confirm."""

STRONG: dict[str, Any] = {"lr": 3e-4, "decay": True, "flip": True}
"""In the first trial, of one seed, mirrored pictures gave four points. `choices` found the rate."""

DROPOUT = {"fc": 0.5, "pn": 0.5}
"""It helped FC in the first trial, and PN learns labels too; `choices` tries it for every kind."""

MEASURED = Settings(fit="trainval", images=8000)
"""Whatever is fitted to features is fitted to all images of seen classes, as the encoder was."""

TINY = Training(max_steps=6, batch_size=16, resident=True, final=True)
SMALL: dict[str, Any] = {"slim": 16, "dim": 16, "fit_steps": 5}
NARROW: dict[str, dict[str, Any]] = {
    name: {"critic_hidden": 16} for name in ("dim", "amdim", "cmdim")
} | {
    "vae": {"code": 8},
    "aae": {"code": 8, "hidden": 16},
    "vicreg": {"expander": 16},
    "dino": {"hidden": 16, "code": 8, "outputs": 16},
}
QUICKLY = replace(
    MEASURED,
    images=30,
    tre=Fit(restarts=2, most=20),
    parts=Probing(steps=10),
    heatmaps=Mining(hidden=16, steps=10),
    ratio=Relating(pairs=50),
)
QUICK_DATA = "birds,size=64,train=70,val=20,test_seen=45,test=30"


def row(block: str, encoder: str, model: str, local: str = "", times: float = 1) -> Recipe:
    """A row of a block, with so many times its epochs."""
    system, settings = (MODELS | MODERN)[model]
    how = {"dropout": DROPOUT.get(system, 0.0), **STRONG} if block == "strong" else {**AS_WRITTEN}
    how |= OWN[block].get(system, {})
    epochs = times * EPOCHS[block][encoder] / (2 if system in TWICE else 1)
    return Recipe(
        name=f"{encoder}/{model}{local}",
        system=system,
        model=named(system).Config(encoder=encoder, local=LOCAL[local], **settings, **how),
        training=replace(SCHEDULE, epochs=epochs),
        block=block,
        seeds=1 if encoder == "alex" or model in (*RECONSTRUCTING, *MODERN) else None,
    )


def quickly(rows: tuple[Recipe, ...], probe: Probe | None = None) -> tuple[Recipe, ...]:
    """The same rows with tiny models, few steps and one seed each."""
    return tuple(
        replace(
            row,
            model=replace(row.model, **SMALL, **NARROW.get(row.system, {})),
            training=replace(TINY, final=row.training.final),
            seeds=1,
            probe=probe,
        )
        for row in rows
    )


def study(
    about: str, rows: tuple[Recipe, ...], *, quick_probe: Probe | None = None, **more: Any
) -> Study:
    """A table of these rows, on birds where the user gives no data."""
    return Study(
        about=about,
        recipes=rows,
        quick=quickly(rows, quick_probe),
        quick_data=QUICK_DATA,
        data=("birds",),
        **more,
    )


TABLE = tuple(
    row(block, encoder, model, local)
    for block in EPOCHS
    for encoder, models, losses in (
        ("basic", MODELS, LOCAL),
        ("basic", MODERN, ("", "+AC")),
        ("alex", ALEX, ("", "+AC")),
        ("alex", ("FC", "CMDIM(p=1)"), ("+LC",)),
    )
    for model in models
    for local in losses
)
LOCALLY = tuple(row(block, "alex", model) for block in EPOCHS for model in MODELS if model != "PN")
LOOKED_AT = tuple(
    row("strong", "basic", model, local)
    for model, local in (
        ("FC", ""), ("VAE", ""), ("AAE", ""), ("AMDIM", ""),
        ("CMDIM(p=1)", ""), ("CMDIM(p=1)", "+AC"), ("CMDIM(p=1)", "+LC"),
    )
)  # fmt: skip


PLATEAU = tuple(
    replace(found, name=f"{found.name} ×{times}", seeds=1)
    for encoder in ("basic", "alex")
    for model in ("FC", "CMDIM(p=1)")
    for times in (1, 2, 4)
    for found in [row("strong", encoder, model, "+AC", times)]
)
"""The first of each is the table's own."""


def tried(local: str, model: str, times: float, block: str = "strong", /, **told: Any) -> Recipe:
    """A row of a block told otherwise, judged by the validation classes at the last step, as the table is."""
    found = row(block, "basic", model, local, times)
    said = "".join(
        f", {name} {value:g}" if isinstance(value, float) else f", {name} {value}"
        for name, value in told.items()
    )
    return replace(
        found,
        name=f"{found.name}{said}, ×{times:g}",
        model=replace(found.model, **told),
        training=replace(found.training, final=False, val_every=10**9),
        seeds=1,
    )


KINDS = {"FC": "", "PN": "", "DIM": "+AC", "CMDIM(p=1)": "+AC"}
"""One of each kind of learner, with or without a local loss."""

SOME = 0.5
"""The share of the budget that is enough to compare settings by."""

CHOOSING = (
    *(
        tried(KINDS[model], model, times, block)
        for model in ("CMDIM(p=1)", "FC")
        for block in ("strong", "as-written")
        for times in (2, 1)
    ),
    *(
        tried(local, model, SOME, **told)
        for model, local in KINDS.items()
        for told in ({}, {"lr": 1e-3}, {"dropout": 0.0 if model in ("FC", "PN") else 0.5})
    ),
    *(
        tried("+AC", model, SOME, critic="encode-and-dot", bound=bound)
        for model in ("DIM", "CMDIM(p=1)")
        for bound in ("infonce", "jensen-shannon", "donsker-varadhan")
    ),
    *(
        tried("+AC", "AMDIM", SOME, **told)
        for told in (
            {},
            {"lr": 1e-3},
            {"looks": "window"},
            {**COSINES, "limit": 0.0, "penalty": 0.0},
        )
    ),
)
"""Budgets, then rate, dropout, critic and bound, one changed at a time."""


def with_accuracy(
    system: Any, splits: Mapping[str, Dataset], *, measure: Any, how: Settings
) -> dict[str, float]:
    """What is measured of a row, beside the accuracy that it is compared with."""
    accuracy = system.evaluate(splits["test"])["zsl_top1"]
    return {"zsl_top1": accuracy, **measure(system, splits, how)}


def compared(
    about: str, measure: Any, metric: str, axis: str, shown: str = "", **more: Any
) -> Study:
    """A table of what goes with accuracy, over the rows of Table A.2, one seed each."""
    return study(
        about,
        tuple(replace(row, seeds=1) for row in TABLE),
        probe=partial(with_accuracy, measure=measure, how=MEASURED),
        quick_probe=partial(with_accuracy, measure=measure, how=QUICKLY),
        conclusion=partial(
            related,
            metric=metric,
            axis=axis,
            aside=RECONSTRUCTING,
            beyond=tuple(MODERN),
            shown=shown,
        ),
        metrics=("zsl_top1", metric),
        **more,
    )


STUDIES = {
    "cub": study(
        "every model × local loss, as written and by one strong recipe (Table A.2)",
        TABLE,
        paper=thesis.paper(
            zsl_top1=thesis.ACCURACY, tre_ratio=thesis.TRE_RATIO, parts_f1=thesis.PARTS_F1
        ),
        metrics=(
            "zsl_top1",
            "chance",
            "zsl_top1_ridge",
            "gzsl_seen",
            "gzsl_unseen",
            "gzsl_harmonic",
        ),
        gathers=(("tre", "tre_ratio"), ("parts", "parts_f1")),
    ),
    "local": study(
        "classes from AlexNet's places: representations averaged, or predictions (Table A.3)",
        LOCALLY,
        probe=local_scores,
        paper=thesis.paper_of_places(),
        metrics=("zsl_top1", *thesis.PLACES),
    ),
    "tre": compared(
        "whether features that are sums of attributes go with accuracy (Fig. 4.5)",
        tre_scores,
        "tre_ratio",
        "TRE ratio",
        paper=thesis.paper(tre_ratio=thesis.TRE_RATIO, zsl_top1=thesis.ACCURACY),
    ),
    "parts": compared(
        "whether local features that tell parts go with accuracy (Fig. 4.2)",
        parts_scores,
        "parts_f1",
        "parts F1",
        shown="basic/",  # of another grid it is not comparable
        paper=thesis.paper(parts_f1=thesis.PARTS_F1, zsl_top1=thesis.ACCURACY),
    ),
    "heatmaps": study(
        "where an image's local features share information with another's global one (Fig. 4.4)",
        LOOKED_AT,
        figure=partial(heatmaps, how=MEASURED),
        quick_probe=partial(heatmaps, how=QUICKLY),
    ),
    "plateau": study(
        "what CMDIM and FC gain from two and four times the budget",
        PLATEAU,
        metrics=("zsl_top1", "zsl_top1_ridge"),
    ),
    "choices": study(
        "budgets, and rate, dropout and critic of the strong block, judged by the validation classes",
        CHOOSING,
        split="val",
        metrics=("zsl_top1", "zsl_top1_ridge"),
    ),
}
