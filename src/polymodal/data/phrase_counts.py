"""How much a split says: images, captions, phrases, and how many of these have boxes, type by type; of
scans and films how many patients, modalities and findings."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from polymodal.data.columns import Targets
from polymodal.data.modalities import modalities
from polymodal.data.records import Dataset, Phrase, Region


def types_of(phrase: Phrase, regions: Sequence[Region]) -> tuple[str, ...]:
    """The types of a phrase: its own, or else what the regions that it names are called.

    >>> types_of(Phrase(0, 5, (0, 1)), [Region("cube"), Region("cube")])
    ('cube',)
    """
    return phrase.types or tuple(dict.fromkeys(regions[k].label for k in phrase.regions))


def counts(dataset: Dataset) -> dict[str, int]:
    """The counts by name, without a look at any picture; a phrase of two types counts for both."""
    totals = Counter({"images": len(dataset)})
    types: Counter[str] = Counter()
    for place in range(len(dataset)):
        regions = dataset.columns["regions"][place] or () if "regions" in dataset.columns else ()
        totals["regions"] += len(regions)
        for caption in dataset.captions(place) if "captions" in dataset.columns else ():
            totals["captions"] += 1
            for phrase in caption.phrases:
                totals["phrases"] += 1
                boxes = sum(regions[k].box is not None for k in phrase.regions)
                if boxes:
                    totals["with a box"] += 1
                    totals["with several"] += boxes > 1
                    types.update(types_of(phrase, regions))
    by_type = {f"with a box: {name}": count for name, count in types.most_common()}
    return {name: count for name, count in totals.items() if count} | by_type | of_patients(dataset)


def of_patients(dataset: Dataset) -> dict[str, int]:
    """How many patients there are, how many items have each modality that some lack, and each target."""
    columns, found = dataset.columns, {}
    if "group" in columns:
        groups: Any = columns["group"]
        found["patients"] = len({group for group in groups if group is not None})
    for name in modalities(dataset):
        present = columns[name].present
        if present is not None:
            found[f"with {name}"] = int(present.sum())
    targets = columns.get("targets")
    if isinstance(targets, Targets):
        totals = (targets.values > 0).sum(0).tolist()
        found |= {
            f"with {name}": total for name, total in zip(targets.classes, totals, strict=True)
        }
    return found
