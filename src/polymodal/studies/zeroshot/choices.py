"""What the validation classes choose: rows told otherwise than the table's."""

from dataclasses import replace
from typing import Any

from polymodal.studies import Recipe
from polymodal.studies.zeroshot.recipes import COSINES, row


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
