"""Relations of boxes: against plain loops in float64, and the same read from either side."""

import math

import pytest
import torch
from torch import Tensor

from polymodal.maths.layout_relations import RELATIONS, WAYS, one_relation, relations

LEFT, RIGHT, ABOVE, BELOW, INSIDE, SURROUNDING = RELATIONS
OPPOSITE = [1, 0, 3, 2, 5, 4]


def some(batch: int = 64, objects: int = 7, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Boxes of which many are within others, and which of them are there."""
    generator = torch.Generator().manual_seed(seed)
    corners = torch.rand(batch, objects, 2, 2, generator=generator, dtype=torch.float64)
    boxes = torch.cat([corners.amin(2), corners.amax(2)], -1)
    boxes[:, 0] = torch.tensor([0.02, 0.02, 0.98, 0.98], dtype=torch.float64)
    return boxes, torch.rand(batch, objects, generator=generator) < 0.8


def within(a: list[float], b: list[float]) -> bool:
    return a[0] > b[0] and a[1] > b[1] and a[2] < b[2] and a[3] < b[3]


def all_of(a: list[float], b: list[float]) -> set[str]:
    """The six sentences of B.3, read one after the other."""
    ax, ay, bx, by = (a[0] + a[2]) / 2, (a[1] + a[3]) / 2, (b[0] + b[2]) / 2, (b[1] + b[3]) / 2
    held = (ax < bx, ax > bx, ay < by, ay > by, within(a, b), within(b, a))
    return {name for name, true in zip(RELATIONS, held, strict=True) if true}


def one_of(a: list[float], b: list[float]) -> set[str]:
    """The angle of sg2im, in degrees."""
    if within(b, a):
        return {SURROUNDING}
    if within(a, b):
        return {INSIDE}
    x, y = (a[0] + a[2] - b[0] - b[2]) / 2, (a[1] + a[3] - b[1] - b[3]) / 2
    angle = math.degrees(math.atan2(y, x))
    if -45 <= angle < 45:
        return {RIGHT}
    if 45 <= angle < 135:
        return {BELOW}
    return {ABOVE} if -135 <= angle < -45 else {LEFT}


def names(row: Tensor) -> set[str]:
    return {RELATIONS[r] for r in row.nonzero().flatten().tolist()}


@pytest.mark.parametrize(("way", "plain"), [("all", all_of), ("one", one_of)])
def test_relations_are_those_of_plain_loops(way: str, plain: object) -> None:
    boxes, there = some()
    found = WAYS[way](boxes, there)
    rows = boxes.tolist()
    seen = set()
    for b in range(len(boxes)):
        for i in range(boxes.shape[1]):
            for j in range(boxes.shape[1]):
                known = i != j and bool(there[b, i]) and bool(there[b, j])
                expected = plain(rows[b][i], rows[b][j]) if known else set()
                assert names(found[b, i, j]) == expected, (b, i, j)
                seen |= expected
    assert seen == set(RELATIONS)


@pytest.mark.parametrize("way", WAYS)
def test_a_relation_has_its_opposite_from_the_other_side(way: str) -> None:
    boxes, there = some(seed=1)
    boxes = (boxes * 8).round().float() / 8  # many share edges, centres and diagonals
    found = WAYS[way](boxes, there)
    assert found.any()
    assert torch.equal(found, found.transpose(1, 2)[..., OPPOSITE])


def both(a: list[float], b: list[float]) -> tuple[list[set[str]], list[set[str]]]:
    """What the first is to the second, and the second to the first, in both ways."""
    boxes, there = torch.tensor([[a, b]]), torch.ones(1, 2, dtype=torch.bool)
    everything, one = relations(boxes, there)[0], one_relation(boxes, there)[0]
    return [names(everything[0, 1]), names(everything[1, 0])], [
        names(one[0, 1]),
        names(one[1, 0]),
    ]


def test_identical_boxes_have_no_relation() -> None:
    box = [0.1, 0.1, 0.4, 0.6]
    assert both(box, box) == ([set(), set()], [set(), set()])


def test_a_diagonal_is_the_same_from_both_sides() -> None:
    found = both([0.0, 0.0, 0.25, 0.25], [0.5, 0.5, 0.75, 0.75])
    assert found == ([{LEFT, ABOVE}, {RIGHT, BELOW}], [{LEFT}, {RIGHT}])


def test_one_relation_says_containment_first() -> None:
    everything, one = both([0.1, 0.1, 0.2, 0.2], [0.0, 0.0, 1.0, 1.0])
    assert everything == [{LEFT, ABOVE, INSIDE}, {RIGHT, BELOW, SURROUNDING}]
    assert one == [{INSIDE}, {SURROUNDING}]


def test_a_box_that_shares_an_edge_is_beside() -> None:
    everything, one = both([0.0, 0.4, 0.5, 0.6], [0.0, 0.0, 1.0, 1.0])
    assert everything == [{LEFT}, {RIGHT}] == one


def test_a_layout_of_one_object_has_none() -> None:
    boxes = torch.tensor([[[0.0, 0.0, 0.5, 0.5]]])
    assert not relations(boxes, torch.ones(1, 1, dtype=torch.bool)).any()
