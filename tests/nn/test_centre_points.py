"""Points of objects: maps of known layouts are read back as those layouts."""

import pytest
import torch

from polymodal.nn.centre_points import (
    CentrePointNet,
    PointMaps,
    centre_places,
    class_words,
    gathered,
    heat_of,
    peaks,
)

BOXES = torch.tensor(
    [[[0.0, 0, 0.5, 0.25], [0.5, 0.5, 1, 1]], [[0.3, 0.6, 0.9, 0.8], [0, 0, 0, 0]]]
)
THERE = torch.tensor([[True, True], [True, False]])
KINDS = torch.tensor([[2, 0], [1, 0]])


def maps_of(rows: int, columns: int) -> PointMaps:
    """What a perfect network says of these layouts."""
    place, offset, sides = centre_places(BOXES, rows, columns)
    kinds = torch.nn.functional.one_hot(KINDS, 3).float()
    maps = []
    for values in (offset, sides.clamp(min=1e-3).log(), kinds):
        flat = torch.zeros(2, rows * columns, values.shape[2])
        for b, o in THERE.nonzero().tolist():
            flat[b, place[b, o]] = values[b, o]
        maps.append(flat.transpose(1, 2).unflatten(2, (rows, columns)))
    return PointMaps(heat_of(BOXES, THERE, rows, columns).logit(eps=1e-4), *maps)


@pytest.mark.parametrize("grid", [(8, 8), (16, 12)])
def test_a_perfect_network_is_read_as_what_is_there(grid):
    found = peaks(maps_of(*grid), 4)
    for b in range(2):
        sure = found.scores[b] > 0.9
        assert int(sure.sum()) == int(THERE[b].sum())
        for box, kind in zip(BOXES[b][THERE[b]], KINDS[b][THERE[b]], strict=True):
            away, which = (found.boxes[b][sure] - box).abs().amax(1).min(0)
            assert away < 1e-5
            assert found.classes[b][sure][which] == kind


def test_heat_is_1_at_centres_alone_and_falls_with_the_distance():
    heat = heat_of(BOXES, THERE, 8, 8)
    place, _, _ = centre_places(BOXES, 8, 8)
    ones = [(b, p) for b, p in (heat.flatten(1) == 1).nonzero().tolist()]
    assert ones == sorted((b, int(place[b, o])) for b, o in THERE.nonzero().tolist())
    row = heat[0, 6]  # the second box is 4 places wide, with its centre at place 6
    assert row[5].item() == pytest.approx(torch.tensor(-0.5 / 0.5**2).exp().item())
    assert row[6] > row[5] > row[4]
    assert heat_of(torch.zeros(2, 0, 4), torch.zeros(2, 0, dtype=torch.bool), 4, 4).sum() == 0


def test_a_centre_on_the_last_edge_is_in_the_last_place():
    place, offset, _ = centre_places(torch.tensor([[[1.0, 1, 1, 1]]]), 4, 4)
    assert place.item() == 15
    assert offset.tolist() == [[[1, 1]]]


def test_values_are_gathered_at_places():
    maps = torch.arange(24.0).reshape(1, 2, 3, 4)
    assert gathered(maps, torch.tensor([[5, 0]])).tolist() == [[[5, 17], [0, 12]]]


def test_neighbours_are_one_peak():
    heat = torch.full((1, 4, 4), -9.0)
    heat[0, 1, 1], heat[0, 1, 2], heat[0, 3, 3] = 3.0, 2.0, 1.0
    zeros = torch.zeros(1, 2, 4, 4)
    found = peaks(PointMaps(heat, zeros, zeros, zeros), 3)
    assert int((found.scores > 0.5).sum()) == 2
    assert found.boxes.min() >= 0
    assert peaks(PointMaps(heat, zeros, zeros, zeros), 99).scores.shape == (1, 16)


@pytest.mark.parametrize("stride", [2, 4])
def test_the_network_says_something_of_each_place(stride):
    words = class_words(["red cube", "blue cube", "red ball"])
    net = CentrePointNet(width=8, words=words, stride=stride)
    maps = net(torch.rand(2, 3, 32, 48) * 255)
    assert maps.heat.shape == (2, 32 // stride, 48 // stride)
    assert maps.classes.shape == (2, 3, 32 // stride, 48 // stride)
    assert maps.heat.sigmoid().mean().item() == pytest.approx(0.1, abs=0.07)
    maps.classes.sum().backward()
    assert net.stem.weight.grad.abs().sum() > 0


def test_classes_share_their_words():
    told = class_words(["red cube", "blue cube", "red ball"])
    assert told.tolist() == [[0, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]]
    assert torch.equal(class_words(["dog", "traffic light"]), torch.eye(2))
    assert torch.equal(class_words(["dog", "cat"]), torch.tensor([[0.0, 1], [1, 0]]))
