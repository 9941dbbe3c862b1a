"""The splits of xlsa17, and everything that can be wrong in them."""

import numpy as np
import pytest

from polymodal.data.formats.archive import Directory
from polymodal.data.formats.xlsa17 import read_benchmark


def loc(*numbers):
    return np.array([numbers]).T


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"att": None}, "there is no array 'att' in it. Is it the file of this dataset? Copy it again."),
        ({"test_seen_loc": None}, "there is no array 'test_seen_loc' in it."),
        ({"att": np.ones((4, 3))}, "expected att to have 4 columns, one a class, found the shape 4×3."),
        ({"att": np.diag([1, 1, np.nan, 1])}, "an attribute of '001.Black_footed_Albatross' in att is not "
         "a finite number. Copy the file again."),
        ({"att": np.full((4, 4), "a", object)}, "an attribute of '002.Ani' in att is not a finite number."),
        ({"allclasses_names": np.arange(4.0)}, "allclasses_names: expected a cell array of texts. Copy"),
        ({"allclasses_names": np.array([["a"], ["b"], ["a"], ["c"]], object)},
         "allclasses_names has 'a' more than once. Copy the file again."),
        ({"trainval_loc": loc(6, 1, 4, 9)}, "trainval_loc has the location 9, but the dataset lists "
         "8 images. Give the splits of this dataset."),
        ({"test_seen_loc": loc(0, 5)}, "test_seen_loc has the location 0, but"),
        ({"test_seen_loc": loc(2.5, 5)}, "test_seen_loc: expected whole numbers. Copy the file again."),
        ({"test_seen_loc": loc(np.nan, 5)}, "test_seen_loc: expected whole numbers."),
        ({"test_seen_loc": loc(2, 4)}, "the location 4 stands in it 2 times, but an image is in one split"),
        ({"test_seen_loc": loc(2, 5, 5)}, "the location 5 stands in it 2 times"),
        ({"test_unseen_loc": loc(8, 5), "test_seen_loc": loc(2)}, "the class '003.Crested_Auklet' is among "
         "the seen and the unseen. The dataset lists its images in another order: give the splits"),
        ({"test_unseen_loc": loc(8), "test_seen_loc": loc(2, 7)}, "the class '004.Wren' is among the seen"),
        ({"test_seen_loc": np.zeros((0, 1))}, "the split 'test_seen' has no images."),
    ],
)  # fmt: skip
def test_a_bad_mat(birds, changes, message):
    path = birds.write_mat(**changes)
    assert f"{path}: {message}" in birds.error()
    assert f"{path}: {message}" in birds.error(skip_bad=True)


@pytest.mark.parametrize("keep", [0, 100, 200, 500])
def test_a_mat_that_is_cut_off(birds, keep):
    path = birds.splits / "att_splits.mat"
    path.write_bytes(path.read_bytes()[:keep])
    assert f"{path}: this is not a whole MATLAB file of version 5 to 7 (" in birds.error()


def test_a_mat_that_is_something_else(birds):
    path = birds.splits / "att_splits.mat"
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(400))
    assert "this is not a whole MATLAB file of version 5 to 7 (Please use HDF" in birds.error()


def test_a_folder_without_splits(birds):
    birds.splits = birds.path
    assert birds.error() == (
        f"{birds.path}: there is no att_splits.mat. Give with splits= the folder of xlsa17 that has "
        "it, such as xlsa17/CUB."
    )


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("valclasses1.txt", "003.Crested_Auklet\n\nDodo\n", ":3: there is no class 'Dodo' among the 4 of "
         "att_splits.mat. Mend the line."),
        ("valclasses1.txt", "003.Crested_Auklet\n002.Ani\n", "trainclasses1.txt:1. Keep one of the two."),
        ("trainclasses1.txt", "002.Ani\n002.Ani\n", ":2: '002.Ani' stands already at "),
        ("valclasses1.txt", None, ": there is no such file. Copy it from xlsa17."),
    ],
)  # fmt: skip
def test_a_bad_list_of_classes(birds, name, text, message):
    path = birds.splits / name
    path.unlink() if text is None else path.write_text(text, "utf-8")
    found = birds.error()
    assert message in found
    assert found.startswith(str(path))


def test_a_list_without_an_image(birds):
    (birds.splits / "valclasses1.txt").write_text("004.Wren\n", "utf-8")
    assert "the split 'val' has no images." in birds.error()


def test_the_images_of_older_releases_that_mix_seen_ones_in_are_not_read(birds):
    birds.write_mat(train_loc=loc(1, 2, 3, 4), val_loc=loc(5, 6))
    assert birds.split("train").ids == ("1", "4", "3")


def test_a_benchmark_says_where_it_is_from(birds):
    benchmark = read_benchmark(birds.splits)
    assert isinstance(benchmark.source, Directory)
    assert benchmark.path == birds.splits / "att_splits.mat"
    assert benchmark.attributes.tolist() == birds.attributes.tolist()
