"""Scores of segmentations against plain counts and plain distances."""

import numpy as np
import pytest

from polymodal.metrics.segmentation import (
    PatientScores,
    dice,
    overlaps,
    sensitivity,
    surface,
    surface_distances,
)


def plain_surface(region: np.ndarray) -> list[tuple[int, ...]]:
    """Places of a region with a neighbour along an axis that is outside it, or outside the picture."""
    found = []
    for place in zip(*np.nonzero(region), strict=True):
        for axis in range(region.ndim):
            for step in (-1, 1):
                other = list(place)
                other[axis] += step
                inside = 0 <= other[axis] < region.shape[axis]
                if not inside or not region[tuple(other)]:
                    found.append(place)
    return sorted(set(found))


@pytest.mark.parametrize("dims", [2, 3])
def test_distances_are_those_of_a_plain_search(dims: int) -> None:
    chance = np.random.default_rng(0)
    ours, theirs = chance.random((2, *[7] * dims)) < 0.4
    a, b = plain_surface(ours), plain_surface(theirs)
    assert [tuple(map(int, p)) for p in np.argwhere(surface(ours))] == [
        tuple(map(int, p)) for p in a
    ]
    plain = [min(np.linalg.norm(np.subtract(p, q)) for q in b) for p in a]
    plain += [min(np.linalg.norm(np.subtract(p, q)) for q in a) for p in b]
    found = surface_distances(ours, theirs)
    assert sorted(found.tolist()) == pytest.approx(sorted(plain))


def test_slices_with_one_surface_alone_give_no_distance_but_lower_dice() -> None:
    blank, one = np.zeros((6, 8), np.int64), np.zeros((6, 8), np.int64)
    one[2:4, 2:4] = 1
    scores = PatientScores(("tumour",))
    scores.add("a", one, one)
    before = scores.scores("t1")
    assert before["hd95_t1"] == 0
    scores.add("a", one, blank)
    scores.add("a", blank, one)
    after = scores.scores("t1")
    assert after["hd95_t1"] == 0
    assert (before["dice_t1"], after["dice_t1"]) == (100, 50)
    scores.add("b", blank, one)  # of whom no slice has both
    assert scores.scores("t1")["hd95_t1"] == 5  # 0 and the diagonal, 10


def test_counts_and_what_is_made_of_them() -> None:
    chance = np.random.default_rng(0)
    found, truth = chance.integers(0, 3, (2, 50))
    counts = overlaps(found, truth, 2)
    for k in (1, 2):
        ours, theirs = set(np.flatnonzero(found == k)), set(np.flatnonzero(truth == k))
        both = len(ours & theirs)
        assert counts[k - 1].tolist() == [both, len(ours), len(theirs)]
        assert dice(counts)[k - 1] == pytest.approx(200 * both / (len(ours) + len(theirs)))
        assert sensitivity(counts)[k - 1] == pytest.approx(100 * both / len(theirs))


def test_slices_of_a_patient_count_together() -> None:
    blank = np.zeros((4, 4), np.int64)
    one, two = blank.copy(), blank.copy()
    one[0, 0] = one[0, 1] = 1
    two[0, 0] = 1
    scores = PatientScores(("tumour",))
    scores.add("a", two, one)  # 1 of 2
    scores.add("a", one, one)  # 2 of 2
    scores.add("b", blank, blank)  # nothing to find, nothing found
    scores.add("c", one, blank)  # nothing to find
    found = scores.scores("t1")
    each = [100 * 2 * 3 / (3 + 4), 100, 0]
    assert found["dice_t1"] == pytest.approx(np.mean(each))
    assert found["dice_t1_spread"] == pytest.approx(np.std(each))
    assert found["sensitivity_t1"] == pytest.approx(75)  # of patient a alone
    distances = [0, 1, 0] + 4 * [0]  # of the first slice 1 and 2 places, of the second 2 and 2
    hd = [np.percentile(distances, 95), np.sqrt(32)]  # patient b has no surface
    assert found["hd95_t1"] == pytest.approx(np.mean(hd))
    assert "dice_t1_tumour" not in found


def test_each_class_is_scored_where_there_are_several() -> None:
    truth = np.array([[1, 1, 2, 0]])
    scores = PatientScores(("core", "rim"), distances=False)
    scores.add("a", np.array([[1, 0, 2, 0]]), truth)
    found = scores.scores("t1")
    assert found["dice_t1_core"] == pytest.approx(200 / 3)
    assert found["dice_t1_rim"] == 100
    assert found["dice_t1"] == pytest.approx((200 / 3 + 100) / 2)
    assert not [name for name in found if name.startswith("hd95")]
    nothing = PatientScores(("core",))
    nothing.add("a", np.zeros((2, 2), np.int64), np.zeros((2, 2), np.int64))
    assert nothing.scores("t1") == {"dice_t1": 100.0, "dice_t1_spread": 0.0}
