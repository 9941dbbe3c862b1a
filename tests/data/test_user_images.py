"""Pictures as a user gives them become the pixels that a folder would give."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data import image_files
from polymodal.data.folder import open_folder
from polymodal.data.image_files import WHOLE
from polymodal.data.user_images import as_picture, as_pictures, framed


def test_a_path_an_image_and_an_array_are_one_picture(squares):
    path = squares / "train-003.png"
    image = Image.open(path)
    found = as_pictures([str(path), path, image, np.asarray(image)], 20)
    assert found.shape == (4, 20, 20, 3)
    assert found.dtype == np.uint8
    assert all((one == found[0]).all() for one in found)
    folder = open_folder(squares, size=20, progress=False)["train"]
    assert (found[0] == folder[folder.ids.index("train-003.png")].image).all()


def test_a_picture_comes_whole_where_that_is_asked(tmp_path: Path):
    tall = np.zeros((30, 10, 3), np.uint8)
    Image.fromarray(tall).save(tmp_path / "tall.png")
    found = as_pictures([tall, tmp_path / "tall.png"], 12, WHOLE)
    assert (found[:, :, 4:8] == 0).all()
    assert (found[:, :, :4] == 128).all() and (found[:, :, 8:] == 128).all()


def test_other_shapes_and_modes_are_brought_in():
    tall = np.zeros((30, 10, 3), np.uint8)
    tall[10:20] = 255
    assert (as_picture(tall, 10) == 255).all()  # the centre square
    assert (as_picture(Image.new("L", (9, 9), 7), 9) == 7).all()


def test_an_absent_file():
    with pytest.raises(PolymodalError, match=r"There is no image at nowhere\.png"):
        as_picture("nowhere.png", 8)


def test_a_folder_is_no_picture(tmp_path: Path):
    with pytest.raises(PolymodalError, match=r"is a folder\. Give the pictures in it: .*/\*\.png"):
        as_picture(tmp_path, 8)


def test_a_broken_file_is_named(tmp_path: Path):
    path = tmp_path / "broken.png"
    path.write_bytes(b"no picture")
    with pytest.raises(PolymodalError, match=r"broken\.png: this is no image"):
        as_picture(path, 8)
    path.write_bytes(b"")
    with pytest.raises(PolymodalError, match=r"broken\.png: the image file has 0 bytes"):
        as_picture(path, 8)


@pytest.mark.parametrize(
    "array", [np.zeros((4, 4, 3)), np.zeros((4, 4), np.uint8), np.zeros((3, 4, 4), np.uint8)]
)
def test_arrays_of_another_kind(array):
    with pytest.raises(PolymodalError, match=r"uint8 of shape \(height, width, 3\) with one"):
        as_picture(array, 4)


def test_an_array_in_place_of_a_list():
    images = np.zeros((2, 4, 4, 3), np.uint8)
    assert as_pictures(images, 4).shape == (2, 4, 4, 3)
    assert as_pictures(images[:0], 4).shape == (0, 4, 4, 3)
    for array in (images[0], np.zeros((0, 0))):
        with pytest.raises(PolymodalError, match="Give a single image in a list"):
            as_pictures(array, 4)


def test_something_else():
    with pytest.raises(PolymodalError, match="a path, a PIL image or a uint8 array, not int"):
        as_picture(7, 4)


@pytest.mark.parametrize("array", [np.zeros((0, 0, 3), np.uint8), np.zeros((4, 0, 3), np.uint8)])
def test_pictures_without_a_pixel(array):
    with pytest.raises(PolymodalError, match="with one pixel at least, not uint8 of"):
        as_picture(array, 4)
    with pytest.raises(PolymodalError, match=r"needs one pixel at least, but has \(0, 4\)"):
        as_picture(Image.new("RGB", (0, 4)), 4)


@pytest.mark.parametrize("framing", [image_files.SQUARE, image_files.WHOLE])
@pytest.mark.parametrize(("width", "height"), [(60, 40), (40, 60), (33, 33)])
def test_boxes_go_into_a_square_and_back(framing, width, height) -> None:
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[14:24, 10:30] = 255  # in the middle of each of them
    found = framed(pixels, 20, framing)
    box = np.array([[10, 14, 30, 24]], np.float32)
    within = found.inside(box)
    np.testing.assert_allclose(found.outside(within), box, atol=1e-4)
    x0, y0, x1, y1 = within[0].round().astype(int)
    assert found.pixels[y0 + 1 : y1 - 1, x0 + 1 : x1 - 1].min() > 200
    assert found.pixels[: max(y0 - 1, 0)].max(initial=0) <= 200
    assert found.pixels[y1 + 1 :].max(initial=0) <= 200
