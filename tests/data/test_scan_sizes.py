"""Planes of another size: as Pillow fits them, and back to the places where they were."""

import numpy as np
import pytest
from PIL import Image, ImageOps

from polymodal.data.scan_sizes import fitted, place_of, restored

SHAPES = [(9, 9), (5, 9), (9, 4), (31, 17), (40, 41), (16, 16), (3, 70)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [(16, 16), (12, 20)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_planes_are_fitted_as_pillow_pads_them(shape, size, dtype) -> None:
    values = np.random.default_rng(0).integers(0, 200, (2, *shape)).astype(dtype)
    found = fitted(values, size)
    assert (found.shape, found.dtype) == ((2, *size), dtype)
    for own, wanted in zip(found, values, strict=True):
        picture = Image.fromarray(wanted.astype(np.float32))
        pad = np.asarray(ImageOps.pad(picture, size[::-1], Image.Resampling.BICUBIC, color=0))
        expected = np.rint(pad).clip(0, np.iinfo(dtype).max) if dtype != np.float32 else pad
        assert own.tolist() == expected.astype(dtype).tolist()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [(64, 64), (128, 200)])
def test_what_is_enlarged_and_brought_back_is_the_same(shape, size) -> None:
    """Of planes that become larger, each place is found again, whatever the bars are."""
    labels = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    if max(shape) > min(size):
        assert restored(fitted(labels, size, Image.Resampling.NEAREST), shape).shape == shape
        return
    back = restored(fitted(labels, size, Image.Resampling.NEAREST), shape)
    assert back.tolist() == labels.tolist()


def test_a_disc_stays_where_it_is() -> None:
    rows, columns = np.mgrid[:90, :150]
    disc = (np.hypot(rows - 30, columns - 100) < 20).astype(np.uint8)
    small = fitted(disc, (48, 48), Image.Resampling.NEAREST)
    assert small[: place_of(disc.shape, (48, 48))[0].start].sum() == 0
    back = restored(small, disc.shape)
    assert 2 * (back & disc).sum() / (back.sum() + disc.sum()) > 0.93


def test_a_line_is_one_place_wide_at_least() -> None:
    assert place_of((1, 1000), (16, 16)) == (slice(8, 9), slice(0, 16))
    assert fitted(np.ones((1000, 1), np.uint8), (16, 16)).sum() == 16
