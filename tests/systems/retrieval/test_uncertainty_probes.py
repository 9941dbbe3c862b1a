"""Probes: parts are cut where they lie; a system that knows is right, a blind one half of the time."""

import math

import numpy as np
import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.data.columns import Each, Stored
from polymodal.data.records import Caption, Dataset
from polymodal.data.sources import look_at
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity import wasserstein
from polymodal.systems.retrieval import image_parts as parts_of
from polymodal.systems.retrieval import uncertainty_probes as probes

SCENES = look_at("scenes,size=64,train=1,val=1,test=12")["test"]


class Knowing:
    """Embeds images and texts by how much of a scene they show: wholes at 1, parts at −1."""

    device = torch.device("cpu")
    measure = staticmethod(wasserstein)

    def encode_images(self, images):
        return self.at([1.0 if image.shape[0] == 64 else -1.0 for image in images])

    def encode_captions(self, texts):
        return self.at([1.0 if len(text.split()) > 6 else -1.0 for text in texts])

    def at(self, values):
        means = torch.tensor(values)[:, None]
        return DiagonalGaussian(means, means.clone())


class Blind(Knowing):
    """Embeds everything alike, and a shorter text a little nearer to all."""

    def encode_images(self, images):
        return self.at([0.0] * len(images))

    def encode_captions(self, texts):
        return self.at([0.01 * len(text) for text in texts])


def test_a_box_is_cut_where_it_lies():
    image = np.arange(8 * 8 * 3, dtype=np.uint8).reshape(8, 8, 3)
    assert np.array_equal(parts_of.cut(image, (0.25, 0.5, 0.75, 1.0)), image[4:8, 2:6])
    assert parts_of.cut(image, (0.99, 0.99, 0.99, 0.99)).shape == (1, 1, 3)


def test_a_square_around_an_object_holds_all_of_it_and_stays_inside():
    for i in range(len(SCENES)):
        for region in SCENES[i].regions:
            box = [64 * share for share in parts_of.around(region.box, 64)]
            assert min(box) >= 0 and max(box) <= 64
            assert box[2] - box[0] == pytest.approx(box[3] - box[1])
            x0, y0, x1, y1 = region.box
            assert box[0] <= x0 and box[1] <= y0 and box[2] >= x1 and box[3] >= y1


def test_parts_are_the_largest_three_that_are_small_enough():
    counts = []
    for i in range(len(SCENES)):
        parts = parts_of.object_parts(SCENES[i])
        counts.append(len(parts))
        for part in parts:
            h, w = part.crop.shape[:2]
            assert h * w <= 0.2 * 64 * 64 * 1.1  # a pixel of rounding
            assert part.phrase in part.text and part.text.count(",") == 2
            assert part.image is parts[0].image
    assert set(counts) <= {0, 3} and 3 in counts


def test_parts_need_the_truth():
    with pytest.raises(PolymodalError, match="drawn worlds alone"):
        parts_of.object_parts(Photos()[0])


def test_extent_is_perfect_for_a_system_that_knows_and_half_for_a_blind_one():
    knows = probes.extent_of(Knowing(), {"test": SCENES})
    assert knows["image_balanced"] == knows["caption_balanced"] == 100
    blind = probes.extent_of(Blind(), {"test": SCENES})
    assert blind["caption_given_crop"] == 100 and blind["caption_given_whole"] == 0
    assert blind["items"] == sum(len(parts_of.object_parts(SCENES[i])) for i in range(12))


def test_extent_says_that_there_is_nothing_to_crop():
    one = look_at("scenes,size=32,train=1,val=1,test=3,objects=1")["test"]
    with pytest.raises(PolymodalError, match="three objects"):
        probes.extent_of(Knowing(), {"test": one})


def test_entropy_falls_where_the_system_says_so():
    found = probes.entropy_of_parts(Knowing(), {"test": SCENES})
    assert found["caption_falls"] == found["image_falls"] == 100
    assert (found["caption_whole"], found["image_part"]) == (1.0, -1.0)
    still = probes.entropy_of_parts(Blind(), {"test": SCENES})
    assert still["image_falls"] == 0  # as it stays the same


class Photos(Dataset):
    """Photographs without a known truth."""

    def __init__(
        self,
        ids=("391895", "2"),
        texts=("a long sentence about a whole dog here", "one two three four"),
        size=64,
    ):
        images = np.stack([np.full((size, size, 3), place, np.uint8) for place in range(len(ids))])
        said = Each.of([(Caption(text),) for text in texts])
        columns = {"image": Stored(images), "captions": said}
        super().__init__(columns, ids=ids, fingerprint="photos", rule="as they are")


def test_photographs_are_cut_in_the_middle_and_their_captions_halved():
    assert parts_of.text_pairs(Photos())[1] == ("one two three four", "one two")
    whole, part = parts_of.image_pairs(Photos())[0]
    assert whole.shape == (64, 64, 3)
    assert part.shape[0] * part.shape[1] / 64**2 == pytest.approx(0.2, abs=0.02)


def test_the_papers_examples_are_found_by_their_ids():
    found = probes.entropy_of_parts(Knowing(), {"test": Photos()})
    assert {"moped_caption", "moped_image", "helmet_caption", "helmet_image"} <= found.keys()
    assert found["moped_caption"] > found["helmet_caption"]
    assert not any(name.startswith("yard") for name in found)


def test_boxes_of_the_examples_lie_within_their_images():
    for example in parts_of.EXAMPLES:
        for text, (left, top, right, bottom) in example.parts.values():
            assert 0 <= left < right <= 1 and 0 <= top < bottom <= 1
            assert text.rstrip(".").split()[-1].lower() in example.text.lower()


def test_doubt_that_knows_the_failures_has_no_risk_among_the_surest():
    rank = torch.tensor([0] * 5 + [3] * 5)
    known = probes.doubt(rank, (rank > 0).double())
    assert known["auroc"] == 100
    assert (known["risk_10"], known["risk_50"], known["risk_100"]) == (0, 0, 50)
    assert "auroc" not in probes.doubt(torch.zeros(4, dtype=torch.long), torch.arange(4.0))


class Certain:
    """Four images in a row and a caption each; the last two captions point at their neighbour's image,
    and are as wide as they are wrong."""

    device = torch.device("cpu")
    measure = staticmethod(wasserstein)

    def encode_dataset(self, dataset):
        return DiagonalGaussian(torch.arange(4.0)[:, None], torch.zeros(4, 1))

    def encode_captions(self, texts):
        means = torch.tensor([0.0, 1.0, 3.0, 2.0])[:, None]
        return DiagonalGaussian(means, torch.tensor([-0.2, -0.1, 0.8, 0.9])[:, None])


def test_uncertainty_is_told_by_entropy_and_by_the_first_answers_score():
    photos = Photos(ids=("a", "b", "c", "d"), texts=("one", "two", "three", "four"))
    found = probes.uncertainty_of(Certain(), {"test": photos})
    assert found["caption_auroc"] == 100
    assert (found["caption_risk_50"], found["caption_risk_100"]) == (0, 50)
    assert found["caption_score_auroc"] == 100  # the wide captions are farther from every image
    assert "caption_error_auroc" not in found
    assert found["image_auroc"] == 50  # all images are equally wide
    nats = 0.5 * (1 + math.log(2 * math.pi) + 0.35)
    assert found["caption_entropy_mean"] == pytest.approx(nats)
