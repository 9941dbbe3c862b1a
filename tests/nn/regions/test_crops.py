"""Crops against sums by hand."""

import numpy as np

from polymodal.nn.regions.crops import crops


def by_hand(picture: np.ndarray, box, size: int) -> np.ndarray:
    """Each pixel of the crop as the mean of those under its tent, a whole pixel of the crop to each side
    or a whole one of the picture."""
    x0, y0, x1, y1 = box

    def weights(low, high, pixels):
        step = (high - low) / size
        reach = max(step, 1)
        centres = low + (np.arange(size) + 0.5) * step
        away = np.abs(np.arange(pixels) + 0.5 - centres[:, None]) / reach
        tent = np.clip(1 - away, 0, None)
        return tent / tent.sum(1, keepdims=True)

    height, width, _ = picture.shape
    return np.einsum("iy,jx,yxc->ijc", weights(y0, y1, height), weights(x0, x1, width), picture)


def test_a_crop_is_what_its_box_holds():
    picture = np.random.default_rng(0).integers(0, 256, (20, 31, 3), np.uint8)
    boxes = np.array(
        [[0, 0, 31, 20], [3, 2, 11, 18], [5.5, 1.25, 9, 4], [30, 19, 31, 20]], np.float32
    )
    found = crops(picture[None], [boxes], 6)
    for crop, box in zip(found, boxes, strict=True):
        np.testing.assert_allclose(crop, by_hand(picture, box, 6), atol=1.01)


def test_context_is_a_margin_within_the_picture():
    picture = np.random.default_rng(0).integers(0, 256, (20, 30, 3), np.uint8)
    box = np.array([[2, 8, 12, 12]], np.float32)
    found = crops(picture[None], [box], 8, context=0.5)
    same = crops(picture[None], [np.array([[0, 6, 17, 14]], np.float32)], 8)
    np.testing.assert_array_equal(found, same)


def test_pictures_have_their_own_numbers_of_boxes():
    pictures = np.stack([np.full((4, 4, 3), grey, np.uint8) for grey in (10, 20, 30)])
    box = np.array([[0, 0, 2, 2]], np.float32)
    found = crops(pictures, [box.repeat(2, 0), np.zeros((0, 4), np.float32), box], 1)
    assert found[:, 0, 0, 0].tolist() == [10, 10, 30]
    assert crops(pictures[:1], [np.zeros((0, 4), np.float32)], 5).shape == (0, 5, 5, 3)
