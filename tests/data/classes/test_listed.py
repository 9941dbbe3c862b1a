"""AWA2 and SUN, whose images res101.mat lists by the paths of another machine."""

import numpy as np
import pytest
from scipy.io import savemat

from polymodal.data.classes import classed


@pytest.mark.parametrize("name", ["animals", "scenes"])
def test_splits(name, request):
    made = request.getfixturevalue(name)
    splits = made.open()
    wanted = {
        "train": [6, 1],
        "val": [4, 3],
        "trainval": [6, 1, 4, 3],
        "test_seen": [2, 5],
        "test": [8, 7],
    }
    assert list(splits) == list(wanted)
    for split, numbers in wanted.items():
        found = classed(splits[split])
        assert found.classes == made.classes
        assert found.labels.tolist() == [(number - 1) // 2 for number in numbers]
        assert np.array_equal(found.attributes, made.attributes)
        shades = found.images(range(len(found))).mean((1, 2, 3))
        assert np.allclose(shades, [made.grey(number) for number in numbers], atol=2)
        assert found.parts is None
        assert found.part_names == ()


def test_names(animals, scenes):
    bears, shop = animals.split("val"), scenes.split("val")
    assert bears.captions(0)[0].text == "grizzly bear"
    assert bears.ids[0] == "grizzly+bear/grizzly+bear_10002.jpg"
    assert bears.attribute_names == ("black", "new world", "big", "fast")
    assert shop.captions(0)[0].text == "bakery shop"
    assert shop.ids[0] == "b/bakery/shop/sun_b.jpg"
    assert shop.attribute_names == ("sailing", "man-made", "dirt", "open area")


def test_attributes_without_names(animals, scenes):
    (animals.path / "predicates.txt").unlink()
    (scenes.path / "SUNAttributeDB" / "attributes.mat").unlink()
    assert animals.split("val").attribute_names == scenes.split("val").attribute_names == ()


def test_bad_names_of_attributes(animals, scenes):
    path = animals.path / "predicates.txt"
    path.write_text("1\tblack\n2\tnew\n", "utf-8")
    assert animals.error() == f"{path}: expected 4 lines, found 2. Copy the file again."
    path = scenes.path / "SUNAttributeDB" / "attributes.mat"
    savemat(path, {"attributes": np.array([["sailing"]], object)})
    assert scenes.error() == f"{path}: attributes: expected 4 names, found 1. Copy the file again."


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": None}, "there is no array 'labels' in it."),
        ({"image_files": None}, "there is no array 'image_files' in it."),
        ({"labels": np.ones((7, 1))}, "expected a label an image, found 8 image_files and 7 labels. Copy"),
        ({"labels": np.array([1, 1, 5, 2, 3, 3, 4, 4])}, "labels(3) is 5, but there are 4 classes. Copy"),
        ({"labels": np.array([1, 0, 2, 2, 3, 3, 4, 4])}, "labels(2) is 0, but there are 4 classes."),
        ({"image_files": np.array([["/a/b.jpg"]] * 8, object)}, "image_files(1): expected a path with "
         "/JPEGImages/ in it, found '/a/b.jpg'. Copy the file again."),
    ],
)  # fmt: skip
def test_a_bad_list_of_images(animals, changes, message):
    path = animals.write_mat("res101.mat", **changes)
    assert f"{path}: {message}" in animals.error()


def test_no_list_of_images(animals):
    path = animals.splits / "res101.mat"
    path.unlink()
    assert animals.error() == (
        f"{path}: there is no such file. It lists the images in the order in which the splits count. "
        "Copy it from xlsa17."
    )


def test_a_path_out_of_the_folder(animals):
    files = animals.variables["res101.mat"]["image_files"].copy()
    files[2] = "/x/JPEGImages/../../secret.jpg"
    animals.write_mat("res101.mat", image_files=files)
    assert "image_files(3): the image '../../secret.jpg' lies outside the folder" in animals.error()
