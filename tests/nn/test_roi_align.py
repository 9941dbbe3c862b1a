"""RoI-align against a loop over its points, in float64."""

import torch

from polymodal.nn.roi_align import roi_align


def value(channel: torch.Tensor, x: float, y: float) -> float:
    """A map at x, y in its own places, whose values go on beyond the outermost."""
    high, wide = channel.shape
    x, y = min(max(x, 0.0), wide - 1.0), min(max(y, 0.0), high - 1.0)
    left, top = int(x), int(y)
    right, low = min(left + 1, wide - 1), min(top + 1, high - 1)
    a, b = x - left, y - top
    above = (1 - a) * channel[top, left] + a * channel[top, right]
    below = (1 - a) * channel[low, left] + a * channel[low, right]
    return float((1 - b) * above + b * below)


def naive(maps, boxes, side, samples):
    b, c, high, wide = maps.shape
    found = torch.zeros(b, boxes.shape[1], c, side, side, dtype=maps.dtype)
    n = side * samples
    for image in range(b):
        for r, (x0, y0, x1, y1) in enumerate(boxes[image].tolist()):
            for i in range(n):
                for j in range(n):
                    y = (y0 + (y1 - y0) * (i + 0.5) / n) * high - 0.5
                    x = (x0 + (x1 - x0) * (j + 0.5) / n) * wide - 0.5
                    for k in range(c):
                        found[image, r, k, i // samples, j // samples] += value(
                            maps[image, k], x, y
                        )
    return found / samples**2


def test_it_is_the_mean_of_its_points():
    chance = torch.Generator().manual_seed(0)
    maps = torch.randn(2, 3, 5, 7, generator=chance, dtype=torch.double)
    low = torch.rand(2, 4, 2, generator=chance, dtype=torch.double) * 0.6
    boxes = torch.cat([low, low + 0.1 + 0.3 * torch.rand(2, 4, 2, generator=chance)], -1)
    boxes[0, 0] = torch.tensor([0, 0, 1, 1])  # whose outer points lie beyond the outermost values
    for side, samples in ((1, 7), (3, 2)):
        torch.testing.assert_close(
            roi_align(maps, boxes, side, samples), naive(maps, boxes, side, samples)
        )


def test_without_boxes_there_is_nothing():
    assert roi_align(torch.ones(2, 3, 4, 4), torch.ones(2, 0, 4), 2).shape == (2, 0, 3, 2, 2)


def test_of_a_ramp_it_is_the_middle_of_the_box():
    ramp = ((torch.arange(16) + 0.5) / 16).expand(1, 1, 16, 16)
    boxes = torch.tensor([[[0.25, 0.25, 0.75, 0.5], [0.5, 0.1, 0.6, 0.9]]])
    torch.testing.assert_close(roi_align(ramp, boxes, 1, 7).flatten(), torch.tensor([0.5, 0.55]))
