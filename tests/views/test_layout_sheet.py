"""Layouts as pictures: every box in its colour, numbers that can be read, names where there is room."""

import io

import numpy as np
import pytest
from PIL import Image

from polymodal.data.layout_record import Layout
from polymodal.views.grounding_sheet import colour_of
from polymodal.views.layout_sheet import (
    GAP,
    GUTTER,
    MARGIN,
    STRENGTH,
    TILE,
    ShownLayout,
    edges_of,
    hits,
    inside,
    labels,
    layout_image,
    layout_sheet,
    outlined,
)


def layout(*boxes: tuple[float, ...], label: str = "dog") -> Layout:
    return Layout((label,) * len(boxes), np.array(boxes, np.float32))


def blended(colour: tuple[int, int, int], beneath: np.ndarray) -> np.ndarray:
    return beneath + STRENGTH * (np.array(colour) - beneath)


def test_boxes_are_filled_with_their_colours_the_small_above_the_large() -> None:
    small, large = (0.25, 0.4, 0.5, 0.6), (0.0, 0.0, 0.75, 1.0)
    image = np.asarray(layout_image(layout(small, large), 200)).astype(float)
    white = np.full(3, 255.0)
    beneath = blended(colour_of(1), white)
    assert np.abs(image[150, 130] - beneath).max() <= 1
    assert np.abs(image[110, 75] - blended(colour_of(0), beneath)).max() <= 1
    assert (image[100, 180] == white).all()
    assert (image[90, 50] == colour_of(0)).all() and (image[180, 0] == colour_of(1)).all()


def test_a_picture_has_the_same_boxes_in_the_same_colours() -> None:
    boxes = layout((0.25, 0.4, 0.5, 0.6), (0.0, 0.0, 0.75, 1.0))
    image = np.asarray(outlined(np.full((20, 20, 3), 90, np.uint8), boxes, 200))
    assert (image[90, 50] == colour_of(0)).all() and (image[180, 0] == colour_of(1)).all()
    assert (image[100, 75] == 90).all() and (image[100, 180] == 90).all()


def test_names_stand_where_they_cover_no_other_object() -> None:
    alone = layout((0.4, 0.4, 0.5, 0.5), label="red metal cube")
    assert [text for text, _ in labels(alone, edges_of(alone, 200), 200)] == ["1 red metal cube"]
    close = layout(
        (0.4, 0.4, 0.5, 0.5), (0.3, 0.2, 0.6, 0.39), (0.3, 0.51, 0.6, 0.7), label="red metal cube"
    )
    texts = [text for text, _ in labels(close, edges_of(close, 200), 200)]
    assert texts[0] == "1"
    wide = layout((0.0, 0.0, 1.0, 1.0), label="red metal cube")
    [(text, spot)] = labels(wide, edges_of(wide, 200), 200)
    assert text == "1 red metal cube" and spot[:2] == (0, 0)


@pytest.mark.parametrize("seed", range(8))
def test_labels_are_clear_of_each_other_and_within_the_picture(seed: int) -> None:
    rng = np.random.default_rng(seed)
    corners = np.sort(rng.random((8, 2, 2), np.float32), 1)
    corners[:, 1] += 0.05 * (corners[:, 1] < 0.95)
    found = Layout(
        ("potted plant",) * 8, np.concatenate([corners[:, 0], corners[:, 1]], 1).clip(0, 1)
    )
    spots = [spot for _, spot in labels(found, edges_of(found, TILE), TILE)]
    assert all(inside(spot, TILE) for spot in spots)
    assert not any(hits(spot, spots[:place]) for place, spot in enumerate(spots))


def test_many_equal_boxes_are_drawn_all_the_same() -> None:
    same = layout(*[(0.99, 0.99, 1.0, 1.0)] * 12)
    found = labels(same, edges_of(same, TILE), TILE)
    assert [text.split()[0] for text, _ in found] == [str(number) for number in range(1, 13)]
    assert all(inside(spot, TILE) for _, spot in found)
    assert layout_image(same, TILE).size == (TILE, TILE)


def test_a_box_thinner_than_a_pixel_is_a_pixel() -> None:
    assert edges_of(layout((0.999, 0.0, 1.0, 0.001)), 10) == [(9, 0, 10, 1)]


def test_a_sheet_has_pictures_beside_each_layout() -> None:
    pictures = np.zeros((2, 8, 8, 3), np.uint8)
    one = ShownLayout(layout=layout((0.1, 0.1, 0.6, 0.6)), pictures=pictures, name="7")
    with Image.open(io.BytesIO(layout_sheet([one] * 3))) as sheet:
        cell = 3 * (TILE + GAP) - GAP
        assert sheet.format == "PNG" and sheet.width == 2 * cell + GUTTER + 2 * MARGIN
        pixels = np.asarray(sheet)
    assert (pixels[MARGIN + 200, MARGIN + TILE + GAP + 200] == 0).all()
    assert (pixels[MARGIN + 250, MARGIN + 2] == 255).all()
    with Image.open(io.BytesIO(layout_sheet([one], columns=5))) as sheet:
        assert sheet.width == cell + 2 * MARGIN
