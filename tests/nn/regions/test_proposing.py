"""Regions in memory: true boxes among others, windows, crops of pixels; and those of new pictures."""

import numpy as np
import pytest
import torch
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data.columns import Each, Read
from polymodal.data.proposals import there
from polymodal.data.records import Dataset, Region
from polymodal.maths.boxes import iou
from polymodal.nn import regions
from polymodal.nn.regions.truth import among_others
from polymodal.nn.regions.windows import grid

SIZE = 24


def truth(index: int) -> tuple[Region, ...]:
    return tuple(
        Region("square", (x, 4 + index % 5, x + 7 + index % 4, 15)) for x in (2, 13)[: index % 3]
    )


def noise(rows):
    return np.stack(
        [np.random.default_rng(r).integers(0, 256, (SIZE, SIZE, 3), np.uint8) for r in rows]
    )


@pytest.fixture
def dataset() -> Dataset:
    """Ten pictures of noise with none, one or two boxes each."""
    columns = {"image": Read(10, noise), "regions": Each(10, truth)}
    return Dataset(columns, ids=[f"{i}.png" for i in range(10)], fingerprint="noise")


def columns(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    found = range(len(dataset))
    return dataset.columns["proposals"].batch(found), dataset.columns["proposal_features"].batch(
        found
    )


def test_truth_is_among_boxes_that_hold_nothing(dataset):
    boxes, features = columns(regions.with_proposals(dataset, regions.describe(count=12)))
    assert boxes.shape == (10, 12, 4)
    assert boxes.dtype == features.dtype == np.float32
    assert there(boxes).all()
    assert ((boxes >= 0) & (boxes <= SIZE)).all()
    places = []
    for row, some in enumerate(boxes):
        true = torch.tensor([r.box for r in truth(row)], dtype=torch.float32).reshape(-1, 4)
        overlap = iou(torch.from_numpy(some), true).amax(1) if len(true) else torch.zeros(12)
        same = overlap == 1
        assert int(same.sum()) == len(true)
        assert (overlap[~same] < 0.5).all()
        assert not len(true) or (overlap[~same] > 0).any()
        places += same.nonzero().ravel().tolist()
        np.testing.assert_array_equal(some, some.round())  # as those of the truth
    assert len(set(places)) > 4  # place tells nothing


def test_other_boxes_are_a_function_of_the_image(dataset):
    plan = regions.describe(count=6)
    boxes, features = columns(regions.with_proposals(dataset, plan))
    some = regions.with_proposals(dataset.take([7, 3]), plan, batch_size=1)
    np.testing.assert_array_equal(columns(some)[0], boxes[[7, 3]])
    np.testing.assert_array_equal(columns(some)[1], features[[7, 3]])
    assert not np.array_equal(boxes[0], boxes[3])


def test_what_cannot_be_placed_is_refused():
    whole = np.array([[0, 0, 2, 2]], np.float32)
    assert len(among_others(whole, 1, (2, 2), "a")) == 1
    with pytest.raises(
        PolymodalError, match=r"Image a: of 9 boxes .* picture of 1×1. Ask for fewer"
    ):
        among_others(np.array([[0, 0, 1, 1]], np.float32), 9, (1, 1), "a")


def test_of_too_many_true_boxes_some_are_taken():
    true = np.arange(40, dtype=np.float32).reshape(10, 4).cumsum(1)
    found = among_others(true, 4, (800, 800), "a")
    assert len({tuple(box) for box in found} & {tuple(box) for box in true}) == 4


def test_truth_needs_truth(dataset):
    pictures = Dataset({"image": dataset.columns["image"]})
    with pytest.raises(PolymodalError, match="The finder truth needs the column 'regions'"):
        regions.with_proposals(pictures, regions.describe())
    with pytest.raises(PolymodalError, match=r"the finder 'truth'.*--finder windows"):
        regions.propose(dataset.images([0]), regions.describe())


def test_windows_cover_every_scale():
    boxes = grid(100)
    assert boxes[0].tolist() == [0, 0, 1, 1]
    assert ((boxes >= 0) & (boxes <= 1.0001)).all()
    assert len(np.unique(boxes.round(5), axis=0)) == 100
    sides = boxes[:, 2:] - boxes[:, :2]
    assert sides.min() < 0.3
    assert {-1, 0, 1} == set(np.sign((sides[:, 0] - sides[:, 1]).round(5)))
    for count in (2, 3, 30):
        assert len(grid(count)) == count


def test_bars_beside_a_picture_are_not_looked_at(dataset):
    plan = regions.describe(finder="windows", count=7)
    whole = np.full((1, SIZE, SIZE, 3), 128, np.uint8)
    gray, _ = regions.propose(whole, plan)
    whole[:, 6:18] = dataset.images([0])[:, 6:18]
    boxes, _ = regions.propose(whole, plan)
    assert boxes[0, 0].tolist() == [0, 6, 24, 18]
    np.testing.assert_allclose(boxes[0], gray[0] * [1, 0.5, 1, 0.5] + [0, 6, 0, 6], rtol=1e-6)


def test_new_pictures_have_the_regions_that_a_dataset_has(dataset):
    plan = regions.describe(finder="windows", count=5, geometry=True)
    made = regions.with_proposals(dataset, plan, dtype="float32")
    assert made.columns["proposal_features"].encoder == plan
    boxes, features = regions.propose(dataset.images([4, 9]), plan)
    np.testing.assert_array_equal(boxes, columns(made)[0][[4, 9]])
    np.testing.assert_array_equal(features, columns(made)[1][[4, 9]])
    np.testing.assert_allclose(features[0, 0, 768:], [0.5, 0.5, 1, 1, 1])
    x0, y0, x1, y1 = boxes[0, 3] / SIZE
    width, height = x1 - x0, y1 - y0
    wanted = [(x0 + x1) / 2, (y0 + y1) / 2, width, height, width * height]
    np.testing.assert_allclose(features[0, 3, 768:], wanted, rtol=1e-6)


def test_pixels_are_those_of_the_crop(dataset):
    plan = regions.describe(count=3, crop=8)
    boxes, features = columns(regions.with_proposals(dataset, plan, dtype="float32"))
    picture = Image.fromarray(noise([5])[0])
    for box, vector in zip(boxes[5], features[5], strict=True):
        crop = picture.resize((8, 8), Image.Resampling.BILINEAR, box=tuple(box))
        np.testing.assert_array_equal(vector.reshape(8, 8, 3), np.asarray(crop) / np.float32(255))


def test_moments_are_those_of_the_boxes_that_are_there(dataset):
    plan = regions.describe(count=4, crop=2)
    made = regions.with_proposals(dataset, plan, dtype="float32")
    features = made.columns["proposal_features"]
    rows = features.values.reshape(-1, 12)
    np.testing.assert_allclose(features.mean, rows.mean(0), rtol=1e-5)
    np.testing.assert_allclose(features.std, rows.std(0), rtol=1e-4)
    held = regions.with_proposals(dataset.take([1]), plan, statistics=features.statistics)
    assert held.columns["proposal_features"].mean is not None
    np.testing.assert_array_equal(held.columns["proposal_features"].mean, features.mean)
    assert (features.dim, made.fingerprint) == (12, "noise")
    assert held.take([0]).columns["proposal_features"].encoder == plan


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"finder": "truht"}, "Unknown finder of regions 'truht'. Did you mean 'truth'?"),
        (
            {"finder": "windows:here"},
            "The finder windows has no path behind it, but 'windows:here'",
        ),
        ({"finder": "own"}, "The finder own has a path behind it, but 'own' was given"),
        ({"finder": "windows*0"}, "1 to 1000 boxes of a picture, not 0"),
        ({"count": 1001}, "1 to 1000 boxes of a picture, not 1001"),
        ({"encoder": "pixel"}, "Unknown encoder of regions 'pixel'. Did you mean 'pixels'"),
        ({"crop": 0}, "crop is a number of pixels from 1 to 4096, not 0"),
        ({"context": -0.1}, "context is a share of a box's sides from 0 to 10, not -0.1"),
    ],
)
def test_what_a_description_cannot_say(dataset, given, message):
    with pytest.raises(PolymodalError, match=message.replace("?", r"\?")):
        regions.with_proposals(dataset, regions.describe(**given))


def test_features_must_be_finite_as_they_are_kept(dataset):
    with pytest.raises(PolymodalError, match="float16 or float32, not 'int8'"):
        regions.with_proposals(dataset, regions.describe(), dtype="int8")
