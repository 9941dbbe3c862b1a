"""One rule of resizing: torch's own, for parts as for whole pictures."""

import pytest
import torch
from torch.nn.functional import interpolate

from polymodal.nn.picture_crops import crops, resized

PICTURES = torch.randint(256, (3, 20, 30, 3), dtype=torch.uint8, generator=torch.manual_seed(0))


def by_torch(cut: torch.Tensor, side: int) -> torch.Tensor:
    pixels = cut.permute(0, 3, 1, 2).double()
    return interpolate(pixels, (side, side), mode="bilinear", antialias=True).float()


@pytest.mark.parametrize("side", [1, 7, 20, 25, 64])
def test_whole_pictures_are_those_of_torch(side):
    torch.testing.assert_close(resized(PICTURES, side), by_torch(PICTURES, side), atol=1e-3, rtol=0)


@pytest.mark.parametrize("side", [5, 32])
def test_a_part_is_resized_as_if_it_were_cut_out(side):
    pixels = torch.tensor([[0, 0, 30, 20], [3, 4, 10, 9], [29, 19, 30, 20], [0, 5, 30, 6]])
    owner = torch.tensor([2, 0, 1, 1])
    found = crops(PICTURES, pixels / torch.tensor([30, 20, 30, 20]), owner, side)
    for one, (x0, y0, x1, y1), picture in zip(found, pixels.tolist(), owner.tolist(), strict=True):
        cut = PICTURES[picture : picture + 1, y0:y1, x0:x1]
        torch.testing.assert_close(one, by_torch(cut, side)[0], atol=1e-3, rtol=0)


@pytest.mark.parametrize("length", range(3, 130, 7))
def test_a_box_of_whole_pixels_has_those_pixels(length):
    """Sides of a picture that are no binary fractions must not reach into the next pixel."""
    line = (
        torch.arange(length, dtype=torch.uint8)
        .expand(1, length, -1)[..., None]
        .expand(-1, -1, -1, 3)
    )
    for first in range(length - 1):
        box = torch.tensor([[first / length, 0, (first + 2) / length, 1]])
        told = crops(line, box, torch.tensor([0]), 2)[0, 0, 0].tolist()
        assert told == pytest.approx([first, first + 1], abs=1e-4)


def test_a_box_has_every_pixel_that_it_touches_and_one_at_least():
    boxes = torch.tensor(
        [[0.24, 0.0, 0.51, 1.0], [0.5, 0.5, 0.5, 0.5], [-1.0, 0, 2, 1], [1.0, 1, 1, 1]]
    )
    line = torch.arange(8, dtype=torch.uint8).expand(1, 8, 8)[..., None].expand(-1, -1, -1, 3)
    told = crops(line, boxes, torch.zeros(4, dtype=torch.long), 1)[:, 0, 0, 0]
    assert told.tolist() == pytest.approx([2.5, 4, 3.5, 7])  # pixels 1 to 4; 4; all; the last


def test_no_boxes_are_no_crops():
    assert crops(PICTURES, torch.zeros(0, 4), torch.zeros(0, dtype=torch.long), 8).shape == (
        0,
        3,
        8,
        8,
    )
