"""Divisions by group: no patient is in two splits, and the seed alone decides."""

import numpy as np
import pytest

from polymodal.base.errors import PolymodalError
from polymodal.data.columns import Each, Stored
from polymodal.data.groups import by_group, rows_by_group
from polymodal.data.records import Dataset


def patients(count: int) -> list[str]:
    """Patients with one to four scans each, in any order."""
    chance = np.random.default_rng(count)
    of = [f"patient {i}" for i in range(count) for _ in range(chance.integers(1, 5))]
    return [of[i] for i in chance.permutation(len(of))]


@pytest.mark.parametrize("count", [3, 4, 10, 50, 400])
@pytest.mark.parametrize("seed", range(5))
def test_no_group_is_in_two_splits_and_every_row_in_one(count, seed):
    groups = patients(count)
    rows = rows_by_group(groups, seed=seed)
    assert list(rows) == ["train", "val", "test"]
    assert sorted(row for own in rows.values() for row in own) == list(range(len(groups)))
    assert all(own and own == sorted(own) for own in rows.values())
    among = [{groups[row] for row in own} for own in rows.values()]
    assert sum(map(len, among)) == count
    if count >= 50:
        for own, share in zip(rows.values(), (0.8, 0.1, 0.1), strict=True):
            assert abs(len(own) / len(groups) - share) < 4 / len(groups) + 1e-9


def test_the_seed_alone_decides():
    groups = patients(30)
    found = [rows_by_group(groups, seed=seed) for seed in (0, 0, 1)]
    assert found[0] == found[1] != found[2]
    turned = rows_by_group(groups[::-1])
    for name, own in found[0].items():
        assert {groups[row] for row in own} == {groups[::-1][row] for row in turned[name]}


def test_a_dataset_is_divided_with_all_its_columns():
    groups = patients(12)
    columns = {
        "t1": Stored(np.arange(len(groups), dtype=np.float32)[:, None]),
        "group": Each.of(groups),
    }
    splits = by_group(Dataset(columns), {"train": 0.5, "test": 0.5})
    assert sum(map(len, splits.values())) == len(groups)
    assert not set(splits["train"].columns["group"]) & set(splits["test"].columns["group"])
    for split in splits.values():
        assert [str(int(record["t1"][0])) for record in split] == list(split.ids)
    assert splits["train"].fingerprint != splits["test"].fingerprint


@pytest.mark.parametrize(
    ("groups", "shares", "message"),
    [
        (["a", "b"], {"train": 0.5, "test": 0.4}, "1 in all, but are: train 0.5, test 0.4"),
        (["a", "b"], {"train": 1.5, "test": -0.5}, "above 0 and 1 in all"),
        (["a", "b"], {}, "but are: none"),
        (["a", "b", "a"], {"a": 0.4, "b": 0.3, "c": 0.3}, "3 splits need .*there are 2: a, b"),
        ([], {"train": 1.0}, "there are 0: none. Give more groups"),
    ],
)
def test_divisions_that_cannot_be(groups, shares, message):
    with pytest.raises(PolymodalError, match=message):
        rows_by_group(groups, shares)


def test_items_without_a_group_are_refused():
    data = Dataset({"group": Each.of(["a", None, "b"])}, ids=["x", "y", "z"])
    with pytest.raises(PolymodalError, match="The item 'y' has no group"):
        by_group(data)
    with pytest.raises(PolymodalError, match="A division by groups needs the column 'group'"):
        by_group(Dataset({"t1": Stored(np.zeros(3))}))
