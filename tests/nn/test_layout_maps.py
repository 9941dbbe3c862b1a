"""Maps of layouts against loops over pixels and objects, in float64."""

import pytest
import torch

from polymodal.nn.layout_maps import Layouts, boundaries, covered, one_hot, placed

EDGES = torch.tensor(
    [
        [[0.1, 0.2, 0.62, 0.9], [0.5, 0.0, 1.0, 0.4], [0.0, 0.0, 1.0, 1.0]],
        [[0.50, 0.3, 0.51, 0.8], [0.7, 0.7, 0.72, 0.71], [0.2, 0.2, 0.3, 0.9]],
    ],
    dtype=torch.float64,
)
"""Boxes of which some are cut at the edges, and some are thinner than a pixel."""

LAYOUTS = Layouts(
    EDGES,
    torch.tensor([[1, 0, 1], [2, 2, 0]]),
    torch.tensor([[True, True, False], [True, True, True]]),
)


def span(low: float, high: float, size: int) -> list[int]:
    """The pixels of a side of which the middle is in the box, or the one in the middle of the box."""
    found = [i for i in range(size) if low <= (i + 0.5) / size < high]
    return found or [min(int((low + high) / 2 * size), size - 1)]


def boxes_of(layouts: Layouts, size: int):
    """Row, place and pixels of every object that is there."""
    for b, o in layouts.there.nonzero().tolist():
        x0, y0, x1, y1 = layouts.boxes[b, o].tolist()
        yield b, o, span(x0, x1, size), span(y0, y1, size)


@pytest.mark.parametrize("size", [4, 7, 16])
def test_a_box_covers_the_pixels_of_which_the_middle_is_in_it(size):
    expected = torch.zeros(2, 3, size, size, dtype=torch.bool)
    for b, o, columns, rows in boxes_of(LAYOUTS, size):
        for y in rows:
            for x in columns:
                expected[b, o, y, x] = True
    assert torch.equal(covered(LAYOUTS, size), expected)
    assert (covered(LAYOUTS, size).sum((2, 3)) > 0).equal(LAYOUTS.there)


@pytest.mark.parametrize("size", [4, 16])
def test_classes_are_ones_where_their_boxes_are(size):
    expected = torch.zeros(2, 4, size, size, dtype=torch.float64)
    for b, o, columns, rows in boxes_of(LAYOUTS, size):
        for y in rows:
            expected[b, LAYOUTS.classes[b, o], y, columns] = 1
    assert torch.equal(one_hot(LAYOUTS, 4, size), expected)


@pytest.mark.parametrize("size", [4, 16])
def test_boundaries_are_the_outermost_pixels_of_each_box(size):
    expected = torch.zeros(2, 1, size, size, dtype=torch.float64)
    for b, _, columns, rows in boxes_of(LAYOUTS, size):
        for y in rows:
            for x in columns:
                if x in (columns[0], columns[-1]) or y in (rows[0], rows[-1]):
                    expected[b, 0, y, x] = 1
    assert torch.equal(boundaries(LAYOUTS, size), expected)


def test_two_boxes_of_one_class_that_overlap_are_told_apart_by_their_boundaries_alone():
    """Fig. 6.4: the class map of two boxes is that of one, their boundaries are not."""
    apart = torch.tensor([[[0.0, 0, 0.75, 1], [0.25, 0, 1, 1]]])
    both = Layouts(apart, torch.zeros(1, 2, dtype=torch.long), torch.ones(1, 2, dtype=torch.bool))
    one = Layouts(
        torch.tensor([[[0.0, 0, 1, 1]]]), torch.zeros(1, 1, dtype=torch.long), torch.ones(1, 1) > 0
    )
    assert torch.equal(one_hot(both, 1, 16), one_hot(one, 1, 16))
    assert boundaries(both, 16).sum() == boundaries(one, 16).sum() + 2 * 14


def interpolated(mask: torch.Tensor, x: float, y: float) -> float:
    """A mask at a place within its box, whose values go on beyond the outermost."""
    m = len(mask)
    x, y = (min(max(at * m - 0.5, 0), m - 1) for at in (x, y))
    i, j = min(int(y), m - 2), min(int(x), m - 2)
    a, b = y - i, x - j
    above = (1 - b) * mask[i, j] + b * mask[i, j + 1]
    below = (1 - b) * mask[i + 1, j] + b * mask[i + 1, j + 1]
    return float((1 - a) * above + a * below)


@pytest.mark.parametrize("size", [4, 16])
def test_masks_are_interpolated_into_their_boxes(size):
    chance = torch.Generator().manual_seed(0)
    masks = torch.rand(2, 3, 5, 5, generator=chance, dtype=torch.float64)
    expected = torch.zeros(2, 3, size, size, dtype=torch.float64)
    for b, o, columns, rows in boxes_of(LAYOUTS, size):
        x0, y0, x1, y1 = LAYOUTS.boxes[b, o].tolist()
        for i in rows:
            for j in columns:
                x, y = ((j + 0.5) / size - x0) / (x1 - x0), ((i + 0.5) / size - y0) / (y1 - y0)
                expected[b, o, i, j] = interpolated(masks[b, o], x, y)
    torch.testing.assert_close(placed(masks, LAYOUTS, size), expected)


def test_gradients_reach_masks_in_every_box_and_no_other():
    masks = torch.rand(2, 3, 4, 4, dtype=torch.float64, requires_grad=True)
    placed(masks, LAYOUTS, 16).sum().backward()
    assert (masks.grad.abs().sum((2, 3)) > 0).equal(LAYOUTS.there)


def test_a_mirrored_layout_gives_mirrored_maps():
    chosen = torch.tensor([True, False])
    mirrored = LAYOUTS.mirrored(chosen)
    before, after = boundaries(LAYOUTS, 32), boundaries(mirrored, 32)
    assert torch.equal(after[0], before[0].flip(-1))
    assert torch.equal(after[1], before[1])
    assert torch.equal(mirrored.mirrored(chosen).boxes[1], LAYOUTS.boxes[1])


def test_rows_are_taken():
    one = LAYOUTS.take(torch.tensor([1]))
    assert len(one) == 1
    assert all(torch.equal(getattr(one, k)[0], getattr(LAYOUTS, k)[1]) for k in ("boxes", "there"))


def test_objects_are_the_places_of_what_is_there():
    assert LAYOUTS.objects.tolist() == [0, 1, 3, 4, 5]
    assert LAYOUTS.classes.flatten()[LAYOUTS.objects].equal(LAYOUTS.classes[LAYOUTS.there])
