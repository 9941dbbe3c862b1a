"""Splits of a zero-shot dataset as datasets: their pictures, bad ones among them, and their hash."""

from dataclasses import replace

import numpy as np
import pytest

from polymodal.base.errors import PolymodalError
from polymodal.data.class_folder import in_sides
from polymodal.data.sources import open_splits


@pytest.mark.parametrize(
    ("size", "box"), [((9, 5), (2, 0, 7, 5)), ((4, 10), (0, 3, 4, 7)), ((6, 6), (0, 0, 6, 6))]
)
def test_places_in_sides_of_the_square_that_is_kept(size, box):
    left, top, right, bottom = box
    places = np.array(
        [[[x, y, 1] for x in range(size[0] + 1) for y in range(size[1] + 1)]], np.float32
    )
    found = in_sides(places, np.array([size], np.float64))[0]
    for (x, y, _), (across, down, seen) in zip(places[0].tolist(), found.tolist(), strict=True):
        if left <= x <= right and top <= y <= bottom:
            assert (across * (right - left) + left, down * (bottom - top) + top) == pytest.approx(
                (x, y)
            )
            assert seen == 1
        else:
            assert (across, down, seen) == (0, 0, 0)


def check_without_the_third(splits):
    """All that is told of an image stays with it when another is left out."""
    assert splits["train"].ids == ("1", "4")
    assert splits["trainval"].ids == ("6", "1", "4")
    for split in splits.values():
        assert len(split.images(range(len(split)))) == len(split.ids)
        assert split.labels.tolist() == [(int(id) - 1) // 2 for id in split.ids]
        assert np.allclose(split.parts[:, 0, 0], [int(id) / 20 for id in split.ids])


def test_a_picture_that_is_not_there(birds):
    (birds.path / "images" / "002.Ani" / "03.png").unlink()
    where = f"{birds.path / 'images.txt'}:3"
    found = birds.error()
    assert f"{where}: there is no file images/002.Ani/03.png in {birds.path}. Add it" in found
    splits = birds.open(skip_bad=True)
    assert [(flaw.kind, flaw.where) for flaw in splits.skipped] == [("missing image", where)]
    check_without_the_third(splits)


def test_a_picture_that_is_cut_off(birds):
    picture = birds.path / "images" / "002.Ani" / "03.png"
    picture.write_bytes(picture.read_bytes()[:50])
    train = birds.split("train")
    with pytest.raises(PolymodalError, match="the image is cut off or damaged") as caught:
        train.images([2])
    assert str(caught.value).startswith(f"{picture} (named at {birds.path / 'images.txt'}:3)")
    splits = birds.open(skip_bad=True)
    assert [flaw.kind for flaw in splits.skipped] == ["truncated image"]
    check_without_the_third(splits)


def test_a_split_of_which_nothing_is_left(birds):
    (birds.path / "images" / "003.Crested_Auklet" / "06.png").write_bytes(b"")
    found = birds.error(skip_bad=True)
    assert "the split 'val' has no images. 1 were bad and left out, first " in found


def test_a_size(birds):
    assert birds.split("val", size=16).images([0]).shape == (1, 16, 16, 3)
    assert birds.error(size=0) == (
        "The image size must be at least 1 pixel and at most 4096, but is 0."
    )


def test_a_dataset_that_is_not_known_or_not_there(birds):
    name = replace(birds, name="cup")
    assert (
        name.error()
        == "Unknown zero-shot dataset 'cup'. Did you mean 'cub'? Known: awa2, cub, sun."
    )
    birds.path = birds.path / "nowhere"
    assert f"{birds.path}: there is no such folder." in birds.error()
    birds.path = birds.path / "CUB.zip"
    assert birds.error() == (
        f"{birds.path}: there is no such file. cub: needs the dataset's own folder, or a .zip of it: "
        "CUB_200_2011, with images.txt, classes.txt, parts/ and images/."
    )


def test_the_hash_tells_what_is_in_a_split(birds):
    first = birds.split("train")
    assert first.fingerprint == birds.split("train").fingerprint
    others = [birds.split("trainval").fingerprint, birds.split("train", size=8).fingerprint]
    places = birds.path / "parts" / "part_locs.txt"
    places.write_text(places.read_text("utf-8").replace("1 1 11.00", "1 1 12.00"), "utf-8")
    others.append(birds.split("train").fingerprint)
    birds.write_mat(att=birds.attributes.T + 1)
    others.append(birds.split("train").fingerprint)
    assert len({first.fingerprint, *others}) == 5
    assert first.rule == birds.split("test").rule
    assert first.rule.startswith("4×4: ")


def test_by_name(birds):
    name = f"cub:{birds.path},splits={birds.splits},size=6,fold=2"
    splits = open_splits(name)
    assert splits["val"].ids == ("4", "3")
    assert splits["val"].images([0]).shape == (1, 6, 6, 3)
    assert open_splits(name.replace(",size=6", ""))["val"].images([0]).shape == (1, 128, 128, 3)
    (birds.path / "images" / "004.Wren" / "08.png").unlink()
    assert len(open_splits(name, skip_bad=True)["test"]) == 1
