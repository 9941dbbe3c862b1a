"""Scores of every subset of the modalities as one table, a row for each subset."""

from collections.abc import Mapping, Sequence

from polymodal.base.tables import Table
from polymodal.data.scan_columns import subset_name, subsets

SCORES = {"sensitivity": "sensitivity", "hd95": "HD95"}
"""Scores beside Dice, and what their columns are called."""


def subset_table(
    scores: Mapping[str, float], modalities: Sequence[str], classes: Sequence[str]
) -> Table:
    """A dot for each modality at hand, and then Dice with its spread over patients, Dice of each class
    where there are several, sensitivity and Hausdorff distance."""
    kinds = list(classes) if len(classes) > 1 else []
    header = [*modalities, "Dice", *[f"Dice {kind}" for kind in kinds], *SCORES.values()]
    rows = []
    for own in subsets(modalities):
        name = subset_name(own)
        dice = told(scores, f"dice_{name}")
        if dice == "–":
            continue
        spread = told(scores, f"dice_{name}_spread")
        dots = ["●" if modality in own else "○" for modality in modalities]
        each = [told(scores, f"dice_{name}_{kind}") for kind in kinds]
        beside = [told(scores, f"{score}_{name}") for score in SCORES]
        rows.append([*dots, f"{dice} ± {spread}", *each, *beside])
    return Table(header=header, rows=rows)


def told(scores: Mapping[str, float], name: str) -> str:
    """A score, or a dash where it was not measured."""
    return f"{scores[name]:.1f}" if name in scores else "–"
