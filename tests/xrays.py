"""Small pictures with reports: each finding is a bright spot at a place of its own, and a word."""

import numpy as np

from polymodal.data.columns import Each, Stored
from polymodal.data.groups import by_group
from polymodal.data.records import Dataset

FINDINGS = ("nodule", "effusion")
SPOTS = ((8, 8), (22, 22))


def xrays(count: int = 60, *, lacking: int = 0, seed: int = 0) -> Dataset:
    """Pictures of 32×32 with their reports; with `lacking`, every so-manyth report is missing."""
    chance = np.random.default_rng(seed)
    targets = chance.integers(0, 2, (count, len(FINDINGS))).astype(np.float32)
    images = chance.integers(0, 60, (count, 32, 32, 3), dtype=np.uint8)
    reports: list[str | None] = []
    for item in range(count):
        words = ["the", "heart", "is", "normal"]
        for k, (y, x) in enumerate(SPOTS):
            if targets[item, k]:
                images[item, y - 3 : y + 3, x - 3 : x + 3] += 120
                words += ["there", "is", FINDINGS[k]]
        reports.append(None if lacking and item % lacking == 0 else " ".join(words))
    columns = {
        "image": Stored(images),
        "text": Each.of(reports),
        "targets": Stored(targets),
        "group": Each.of([f"patient {i // 2}" for i in range(count)]),
    }
    return Dataset(
        columns, fingerprint=f"xrays {count} {lacking} {seed}", rule="32×32: as they are"
    )


def xray_splits(**how) -> dict[str, Dataset]:
    """Train, val and test, no patient in two of them."""
    return by_group(xrays(**how), {"train": 0.6, "val": 0.2, "test": 0.2})
