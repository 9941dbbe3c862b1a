"""Splits by group: all items of one patient are in one split, so that nothing tested was learned from."""

import hashlib
from collections.abc import Mapping, Sequence

from polymodal.base.errors import PolymodalError
from polymodal.data.records import Dataset

SHARES: Mapping[str, float] = {"train": 0.8, "val": 0.1, "test": 0.1}


def by_group(
    dataset: Dataset, shares: Mapping[str, float] = SHARES, *, seed: int = 0
) -> dict[str, Dataset]:
    """Splits of a dataset, none of whose groups is in two of them.

    Args:
        dataset: it needs the column 'group'.
        shares: how much of the items each split has, as nearly as whole groups allow.
        seed: another seed, another division.
    """
    column = dataset.column("group", "A division by groups")
    if column.present is not None:
        lost = dataset.ids[int((~column.present).argmax())]
        raise PolymodalError(
            f"The item {lost!r} has no group, so it could be of one that is in another split. Give it "
            "one of its own, or leave it out."
        )
    rows = rows_by_group([str(group) for group in column], shares, seed=seed)
    return {name: dataset.take(chosen) for name, chosen in rows.items()}


def rows_by_group(
    groups: Sequence[str], shares: Mapping[str, float] = SHARES, *, seed: int = 0
) -> dict[str, list[int]]:
    """The rows of each split, in their order; which depends on the groups' names and the seed alone.

    Groups are taken by the order of their hashes, split after split; each split has one at least.

    >>> rows_by_group(["a", "b", "a", "c", "c"], {"train": 0.6, "test": 0.4})
    {'train': [0, 2, 3, 4], 'test': [1]}
    """
    if not shares or min(shares.values()) <= 0 or abs(sum(shares.values()) - 1) > 1e-6:
        listed = ", ".join(f"{name} {share:g}" for name, share in shares.items())
        raise PolymodalError(
            f"The shares of splits are above 0 and 1 in all, but are: {listed or 'none'}."
        )
    members: dict[str, list[int]] = {}
    for row, group in enumerate(groups):
        members.setdefault(group, []).append(row)
    if len(members) < len(shares):
        raise PolymodalError(
            f"{len(shares)} splits need a group each at least, but there are {len(members)}: "
            f"{', '.join(sorted(members)[:5]) or 'none'}. Give more groups, or ask for fewer splits."
        )
    left = sorted(members, key=lambda group: hashed(seed, group))
    splits: dict[str, list[int]] = {}
    done, reached = 0, 0.0
    for place, (name, share) in enumerate(shares.items()):
        others = len(shares) - place - 1
        reached += share
        chosen: list[int] = []
        while left and (others == 0 or len(left) > others):
            size = len(members[left[0]])
            # whichever is nearer to the share: with the next group, or without it
            if chosen and others and done + size / 2 > reached * len(groups):
                break
            chosen += members[left.pop(0)]
            done += size
        splits[name] = sorted(chosen)
    return splits


def hashed(seed: int, group: str) -> str:
    """A group's place in the order of a seed."""
    return hashlib.sha256(f"{seed}:{group}".encode("utf-8", "surrogatepass")).hexdigest()


def owners_of(dataset: Dataset) -> list[str]:
    """The patient of each item; the item itself where nobody knows."""
    if "group" not in dataset.columns:
        return list(dataset.ids)
    groups = dataset.column("group")
    return [
        item if own is None else str(own) for item, own in zip(dataset.ids, groups, strict=True)
    ]
