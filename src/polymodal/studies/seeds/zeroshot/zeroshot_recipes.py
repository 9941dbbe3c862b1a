"""A row of the zero-shot tables: a model, an encoder and a local loss, trained as its block says."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from polymodal.studies.study import SMALL, Recipe
from polymodal.systems import system_named
from polymodal.training.training_config import Training

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
"""References younger than the thesis, in the strong block: one seed each, with the basic encoder, without
labels or with AC."""

BOTH_SCALES = {"scales": "local-and-last"}
OURS: dict[str, tuple[str, dict[str, Any]]] = {
    "CMDIM(p=1, both scales)": ("cmdim", {"p": 1.0, **BOTH_SCALES})
}
"""CMDIM that knows the places of the last maps too, as AMDIM does: of AMDIM's kin it is in the thesis's
table of TRE ratios ('local_twopass_class_matching'), which speaks of the third layer alone elsewhere."""

BEYOND = MODERN | OURS
"""Rows that the thesis does not have, in the strong block."""

RECONSTRUCTING = ("VAE", "beta-VAE", "AAE")
"""Models that draw what they saw: one seed each, since the thesis finds all of them far behind."""

TOLD_CLASSES = ("FC", "CMDIM(p=1)", "CMDIM(p=0.5)", "CMDIM(p=0.1)", "PN")
"""Models that learn from which class an image is of, whatever their local loss."""

ALEX = ("FC", "DIM", "AMDIM", "CMDIM(p=1)", "PN")
"""Models that are trained with the larger encoder for the table; those with LC tell whether it hurts CMDIM,
as the thesis finds with that encoder."""

LOCAL = {"": "none", "+AC": "attributes", "+LC": "labels"}

LOCAL_NET: dict[str, dict[str, Any]] = {
    "": {},
    "+AC": {"local_hidden": 512, "local_centred": True},
    "+LC": {"local_hidden": 512},
}
"""The local loss of the strong block: a hidden layer for every learner, and centred attributes for AC. As
written it is linear, with ℓ2-normalised attributes."""
LINEAR: dict[str, Any] = {"local_hidden": 0, "local_centred": False}

TWO_VIEWS = ("amdim", "cmdim", "vicreg", "dino")
"""Learners that encode two images for each that they are given."""

EPOCHS: dict[str, dict[str, float]] = {
    "as-written": {"basic": 40, "alex": 24},
    "strong": {"basic": 120, "alex": 60},
}
"""Passes over trainval, the same for all learners of an encoder: a pass of TWO_VIEWS encodes two images for
each. The thesis gives no number. `choices` and `plateau` ask what less or more would give."""

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
NORMED = {"bound": "infonce", "critic": "normed-dot", "critic_hidden": 1024}
JENSEN_SHANNON = {"bound": "jensen-shannon", "critic": "encode-and-dot", "critic_hidden": 256}
INFOMAX = ("DIM", "CMDIM(p=1)", "CMDIM(p=0.5)", "CMDIM(p=0.1)")
OWN: dict[str, dict[str, dict[str, Any]]] = {
    "as-written": {
        **{model: {"bound": "donsker-varadhan"} for model in INFOMAX},
        "AMDIM": {"augmentation": "window"},
    },
    "strong": {
        **dict.fromkeys(INFOMAX, JENSEN_SHANNON),
        "CMDIM(p=1)": COSINES,
        **dict.fromkeys(OURS, NORMED),
    },
}
"""What models have to themselves. As written the bound that A.7 names, and for all the windows of A.2; it
names no critic. In the strong block what `choices` found: cosines are best where all partners are other
images, Jensen–Shannon where an image is its own, and normed dot products at both scales."""

STRONG: dict[str, Any] = {"lr": 3e-4, "decay": True, "flip": True}
"""In the first trial, of one seed, mirrored pictures gave four points; `choices` does not try them. It tries
the rate: 1e-3 is better for some models and worse for others."""

DROPOUT = {"fc": 0.5, "pn": 0.5}
"""`choices` found that it helps those that learn labels alone."""


def row(block: str, encoder: str, model: str, local: str = "", times: float = 1) -> Recipe:
    """A row of a block, with so many times its epochs."""
    system, settings = (MODELS | BEYOND)[model]
    how = {**AS_WRITTEN}
    if block == "strong":
        how = {"dropout": DROPOUT.get(system, 0.0), **STRONG, **LOCAL_NET[local]}
    how |= OWN[block].get(model, {})
    return Recipe(
        name=f"{encoder}/{model}{local}",
        system=system,
        model=system_named(system).Config(encoder=encoder, local=LOCAL[local], **settings, **how),
        training=replace(SCHEDULE, epochs=times * EPOCHS[block][encoder]),
        block=block,
        seeds=1 if encoder == "alex" or model in (*RECONSTRUCTING, *MODERN) else None,
    )


SMALL_EPOCHS = 40
SLIM: dict[str, Any] = {"slim": 4, "dim": 256}
NARROWER: dict[str, dict[str, Any]] = {
    "amdim": {"critic_hidden": 256},
    "vicreg": {"expander": 512},
    "dino": {"hidden": 512, "outputs": 1024},
}
"""What two cores can train, a row in some minutes, with images of 64×64: a quarter of the maps."""

DRAWN_RATES: dict[str, Any] = {"lr": 3e-3, "fit_lr": 1e-2}
CUB_RATES: dict[str, Any] = {"lr": 1e-3, "fit_lr": 1e-2, "fit_steps": 20}
"""Adam's rate and that of the prototypes: the best of those tried on the validation classes of drawn birds
and of CUB (docs/results/zeroshot.md)."""


def small_model(row: Recipe) -> dict[str, Any]:
    """What a small encoder changes. At both scales small encoders were tried with cosines alone."""
    changes = SLIM | LINEAR | NARROWER.get(row.system, {})
    normed = getattr(row.model, "critic", None) == NORMED["critic"]
    return changes | COSINES if normed else changes


def slimmed(rows: Sequence[Recipe], rates: Mapping[str, Any]) -> tuple[Recipe, ...]:
    """The rows of the strong block with small encoders, all with three seeds: a linear local loss, and half
    the passes for learners in TWO_VIEWS, so that all rows encode as many images."""
    return tuple(
        replace(
            row,
            model=replace(row.model, **small_model(row), **rates),
            training=replace(
                row.training, epochs=SMALL_EPOCHS / (2 if row.system in TWO_VIEWS else 1)
            ),
            seeds=None,
        )
        for row in rows
        if row.block == "strong"
    )


def drawn_rows(rows: Sequence[Recipe]) -> tuple[Recipe, ...]:
    """Small rows for drawn birds."""
    return slimmed(rows, DRAWN_RATES)


def small(rows: Sequence[Recipe], rates: Mapping[str, Any] = CUB_RATES) -> tuple[Recipe, ...]:
    """Small rows for files of the user's own, in a block of their name: where there are full ones too,
    these are not to be taken for them."""
    return tuple(replace(row, block=SMALL) for row in slimmed(rows, rates))
