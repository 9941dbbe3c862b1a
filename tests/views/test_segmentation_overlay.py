"""A slice under the colours of its labels."""

import io

import numpy as np
from PIL import Image

from polymodal.views.grounding_sheet import COLOURS
from polymodal.views.segmentation_overlay import FOOT, as_grey, coloured, fullest, overlay


def test_each_class_has_its_colour_and_the_background_none() -> None:
    picture = np.full((2, 2, 3), 100, np.uint8)
    found = coloured(picture, np.array([[0, 1], [4, 1]]))
    assert found[0, 0].tolist() == [100, 100, 100]
    for number, (y, x) in {1: (0, 1), 4: (1, 0)}.items():
        mixed = [round(0.55 * 100 + 0.45 * c) for c in COLOURS[number - 1]]
        assert np.abs(found[y, x].astype(int) - mixed).max() <= 1
    assert found[1, 1].tolist() == found[0, 1].tolist()
    alone = coloured(picture, np.array([[0, 0], [4, 0]]))  # the same colour where others are absent
    assert alone[1, 0].tolist() == found[1, 0].tolist()


def opened(content: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(content)))


def test_both_halves_are_the_slice() -> None:
    scan = np.arange(12.0).reshape(3, 4)
    image = opened(overlay(scan, np.zeros((3, 4), np.int64), ["tumour"]))[:-FOOT]
    half = (image.shape[1] - 8) // 2
    assert half >= 384
    assert (image[:, :half] == image[:, -half:]).all()
    grey = as_grey(scan)
    assert image[:, :half][0, 0, 0] == grey[0, 0] == 0
    assert grey.max() == 255
    assert as_grey(np.ones((2, 2))).max() == 0


def test_below_stands_whose_colour_is_which() -> None:
    names = ["core", "rim", "oedema"]
    image = opened(overlay(np.zeros((4, 4)), np.zeros((4, 4), np.int64), names))[-FOOT:]
    for number in range(1, 4):
        assert (image == COLOURS[number - 1]).all(-1).sum() >= 14 * 14
    fewer = opened(overlay(np.zeros((4, 4)), np.zeros((4, 4), np.int64), names[:1]))[-FOOT:]
    assert not (fewer == COLOURS[1]).all(-1).any()


def test_pixels_have_their_proportions() -> None:
    image = opened(overlay(np.zeros((10, 40)), np.zeros((10, 40), np.int64), ["a"], (3.0, 1.0)))
    height, width = image.shape[0] - FOOT, (image.shape[1] - 8) // 2
    assert (height, width) == (300, 400)


def test_the_fullest_plane_is_shown() -> None:
    labels = np.zeros((5, 2, 2), np.int64)
    assert fullest(labels) == 2
    labels[3, 0] = 4
    labels[1, 0, 0] = 1
    assert fullest(labels) == 3
