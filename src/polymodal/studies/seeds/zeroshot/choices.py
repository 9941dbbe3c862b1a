"""What the validation classes choose: rows told otherwise than the table's."""

from dataclasses import replace
from typing import Any

from polymodal.studies.seeds.zeroshot.zeroshot_recipes import (
    BOTH_SCALES,
    COSINES,
    CUB_RATES,
    JENSEN_SHANNON,
    row,
    small,
)
from polymodal.studies.study import Recipe


def tried(row_name: str, times: float, block: str = "strong", /, **told: Any) -> Recipe:
    """A row of a block told otherwise, judged by the validation classes at the last step, as the table is."""
    model, plus, loss = row_name.partition("+")
    found = row(block, "basic", model, plus + loss, times)
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


UNBOUND = {"limit": 0.0, "penalty": 0.0}
LOOK = {"itself": "look"}

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
    "AAE": ({}, {"adversity": 0.1}),
    "AMDIM+AC": (
        {},
        {"lr": 1e-3},
        {"looks": "window"},
        {**COSINES, **UNBOUND},
        {**JENSEN_SHANNON, **UNBOUND},
    ),
}
"""What a row is told otherwise: rate, dropout, critic, bound and scales."""

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
    *(tried(name, SOME, **told) for name, trials in TRIALS.items() for told in trials),
)
"""Budgets, then what else a row may be told."""

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

CHOOSING_SMALL = small([tried(name, 1, **told) for name, told in SMALL_TRIALS], rates={})
