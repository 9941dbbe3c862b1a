"""Settings that the validation classes choose: the table's rows with other settings."""

from dataclasses import replace
from typing import Any

from polymodal.base.config import as_stored
from polymodal.studies.seeds.zeroshot.zeroshot_recipes import (
    BOTH_SCALES,
    COSINES,
    CUB_RATES,
    JENSEN_SHANNON,
    LINEAR,
    LOCAL_NET,
    NORMED,
    TWO_VIEWS,
    row,
    small,
)
from polymodal.studies.study import Recipe


def tried(row_name: str, times: float, block: str = "strong", /, **settings: Any) -> Recipe:
    """A row of a block with other settings, scored on the validation classes at the last step. It starts from
    a linear local loss, and from half the passes for learners that encode two images for each: `times` counts
    encoded images."""
    model, plus, loss = row_name.partition("+")
    recipe = row(block, "basic", model, plus + loss, times)
    halved = block == "strong" and recipe.system in TWO_VIEWS
    epochs = recipe.training.epochs / (2 if halved else 1)
    suffix = "".join(
        f", {name} {value:g}" if isinstance(value, float) else f", {name} {value}"
        for name, value in as_stored(recipe.model, settings).items()
    )
    return replace(
        recipe,
        name=f"{recipe.name}{suffix}, ×{times:g}",
        model=replace(recipe.model, **LINEAR | settings),
        training=replace(recipe.training, epochs=epochs, final=False, val_every=10**9),
        seeds=1,
    )


UNBOUND = {"limit": 0.0, "penalty": 0.0}
LOOK = {"self_positive": "look"}

SOME = 0.5
"""The share of the budget that is enough to compare settings by."""

TRIALS: dict[str, tuple[dict[str, Any], ...]] = {
    "FC": ({}, {"lr": 1e-3}, {"dropout": 0.0}),
    "PN": ({}, {"lr": 1e-3}, {"dropout": 0.0}),
    "DIM+AC": (
        {},
        {"lr": 1e-3},
        {"critic_hidden": 1024},
        {"bound": "donsker-varadhan"},
        COSINES,
        {**COSINES, "lr": 1e-3},
        {**COSINES, "dropout": 0.5},
        BOTH_SCALES,
    ),
    "CMDIM(p=1)+AC": (
        {},
        {"lr": 1e-3},
        {"dropout": 0.5},
        JENSEN_SHANNON,
        {**JENSEN_SHANNON, "lr": 1e-3},
        {**JENSEN_SHANNON, "critic_hidden": 1024},
        {**JENSEN_SHANNON, "bound": "donsker-varadhan"},
        BOTH_SCALES,
    ),
    "CMDIM(p=0.5)+AC": (
        {},
        LOOK,
        {**LOOK, "critic_hidden": 1024},
        {**LOOK, **COSINES},
    ),
    "CMDIM(p=0.1)+AC": ({}, LOOK, {**LOOK, **COSINES}),
    "AAE": ({}, {"adversarial_weight": 0.1}),
    "AMDIM+AC": (
        {},
        {"lr": 1e-3},
        {"augmentation": "window"},
        {**COSINES, **UNBOUND},
        {**JENSEN_SHANNON, **UNBOUND},
    ),
}
"""The settings that are tried for a row: rate, dropout, critic, bound and scales."""

AC_NET = LOCAL_NET["+AC"]
NORMED_JS = {**NORMED, "bound": "jensen-shannon"}
DETAILS: tuple[tuple[str, float, dict[str, Any]], ...] = (
    ("CMDIM(p=1)+AC", 2, {}),
    ("CMDIM(p=1)+AC", 2, {**AC_NET, **NORMED}),
    ("CMDIM(p=1)+AC", 1, {"local_hidden": 512}),
    ("CMDIM(p=1)+AC", 1, {"local_centred": True}),
    ("CMDIM(p=1)+AC", 1, AC_NET),
    ("CMDIM(p=1)+AC", 1, NORMED),
    ("CMDIM(p=1)+AC", 1, {**AC_NET, **NORMED}),
    ("CMDIM(p=1)+AC", 1, {**AC_NET, **NORMED_JS}),
    ("CMDIM(p=1)+AC", 1, {**AC_NET, **NORMED, "lr": 1e-3}),
    ("CMDIM(p=1)", 1, {}),
    ("CMDIM(p=1)", 1, NORMED),
    ("CMDIM(p=0.5)+AC", 1, {}),
    ("CMDIM(p=0.5)+AC", 1, {**AC_NET, **NORMED_JS}),
    ("CMDIM(p=1)+AC", 2, {**AC_NET, **BOTH_SCALES}),
    ("CMDIM(p=1)+AC", 2, AC_NET),
    ("CMDIM(p=1)+AC", 1, {**AC_NET, **BOTH_SCALES}),
    ("CMDIM(p=1)+AC", 1, {**AC_NET, **NORMED, **BOTH_SCALES}),
    ("CMDIM(p=1)+AC", 1, {**AC_NET, "local_weight": 0.5}),
    ("CMDIM(p=1)+AC", 1, {**AC_NET, "local_weight": 2.0}),
    ("CMDIM(p=1)+AC", 1, {**AC_NET, "dropout": 0.5}),
    ("CMDIM(p=1)+AC", 1, {**AC_NET, "lr": 1.5e-4}),
    ("CMDIM(p=0.5)+AC", 1, AC_NET),
    ("CMDIM(p=0.5)+AC", 1, {**AC_NET, **BOTH_SCALES}),
    ("FC+AC", 1, {}),
    ("FC+AC", 1, AC_NET),
    ("PN+AC", 1, {}),
    ("PN+AC", 1, AC_NET),
    ("DIM+AC", 1, {}),
    ("DIM+AC", 1, AC_NET),
    ("DIM+AC", 1, {**AC_NET, **NORMED_JS}),
)
"""What the local loss compares, and the critic, each alone and together, with the whole budget or more."""

CHOOSING = (
    *(
        tried(name, times, block)
        for name, block, times in (
            ("CMDIM(p=1)+AC", "strong", 1),
            ("CMDIM(p=1)+AC", "as-written", 0.75),
            ("CMDIM(p=1)+AC", "as-written", 0.375),
            ("FC", "strong", 1),
            ("FC", "as-written", 1.5),
            ("FC", "as-written", 0.75),
        )
    ),
    *(tried(name, times, **trial) for name, times, trial in DETAILS),
    *(tried(name, SOME, **trial) for name, trials in TRIALS.items() for trial in trials),
)
"""Budgets, then other settings."""

FITTED_TO = (
    tried("FC", 1),
    tried("CMDIM(p=1)+AC", 1),
    tried("CMDIM(p=1)+AC", 1, **AC_NET, **NORMED),
)
"""Encoders whose features show how prototypes are best fitted."""

SMALL_TRIALS: tuple[tuple[str, dict[str, Any]], ...] = (
    *(
        (name, rates)
        for name in ("FC", "PN", "DIM+AC", "CMDIM(p=1)+AC")
        for rates in ({"lr": 1e-3}, {"lr": 3e-3}, CUB_RATES)
    ),
    ("DIM+AC", {**CUB_RATES, **BOTH_SCALES}),
    ("CMDIM(p=1)+AC", {**CUB_RATES, **BOTH_SCALES}),
    ("CMDIM(p=1)+AC", {**CUB_RATES, "local_weight": 4.0}),
)
"""Rates of small encoders, then what else may help."""

CHOOSING_SMALL = small([tried(name, 1, **trial) for name, trial in SMALL_TRIALS], rates={})
