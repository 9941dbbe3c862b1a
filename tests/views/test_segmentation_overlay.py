"""A slice under the colours of its labels."""

import io

import numpy as np
from PIL import Image

from polymodal.views.grounding_sheet import COLOURS
from polymodal.views.segmentation_overlay import as_grey, coloured, fullest, overlay


def test_each_class_has_its_colour_and_the_background_none() -> None:
    picture = np.full((2, 2, 3), 100, np.uint8)
    found = coloured(picture, np.array([[0, 1], [4, 1]]))
    assert found[0, 0].tolist() == [100, 100, 100]
    for place, (y, x) in enumerate([(0, 1), (1, 0)]):
        mixed = [round(0.55 * 100 + 0.45 * c) for c in COLOURS[place]]
        assert np.abs(found[y, x].astype(int) - mixed).max() <= 1
    assert found[1, 1].tolist() == found[0, 1].tolist()


def test_both_halves_are_the_slice() -> None:
    scan = np.arange(12.0).reshape(3, 4)
    image = np.asarray(Image.open(io.BytesIO(overlay(scan, np.zeros((3, 4), np.int64)))))
    half = (image.shape[1] - 8) // 2
    assert half >= 384
    assert (image[:, :half] == image[:, -half:]).all()
    grey = as_grey(scan)
    assert image[:, :half][0, 0, 0] == grey[0, 0] == 0
    assert grey.max() == 255
    assert as_grey(np.ones((2, 2))).max() == 0


def test_the_fullest_plane_is_shown() -> None:
    labels = np.zeros((5, 2, 2), np.int64)
    assert fullest(labels) == 2
    labels[3, 0] = 4
    labels[1, 0, 0] = 1
    assert fullest(labels) == 3
