"""Claims beside what is observed: of every size, of perfect claims, of a filter; and in an evaluation."""

import numpy as np
import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.data.columns import Stored
from polymodal.data.records import Dataset
from polymodal.metrics.calibration import calibration_error
from polymodal.systems.retrieval.retrieval_scores import calibration_errors, half
from polymodal.systems.retrieval.sureness_probe import claimed_and_observed, gaps


class Drawn:
    """A system that embeds splits of pictures and texts which are embeddings already."""

    def protocol(self):
        return {"similarity": "cosine"}

    def embedded(self, split):
        make = torch.Generator().manual_seed(len(split))
        images = torch.randn(len(split), 8, generator=make)
        owner = torch.arange(2 * len(split)) // 2
        return images, images[owner] + torch.randn(len(owner), 8, generator=make), owner

    def encode_dataset(self, split):
        return self.embedded(split)[0]


def split(count: int) -> Dataset:
    return Dataset({"image": Stored(np.zeros((count, 1, 1, 3), np.uint8))})


SPLITS = {"test": split(400), "val": split(300), "train": split(200)}


def test_claims_are_near_what_is_observed_in_every_size():
    found = claimed_and_observed(Drawn(), SPLITS, sizes=(100, 200, 900))
    for name, queries in (("small", 800), ("middle", 800), ("large", 800), ("filtered", 400)):
        bins = [key for key in found if key.startswith(f"{name}_bin_") and key.endswith("_queries")]
        assert sum(found[key] for key in bins) == queries
        assert found[f"{name}_claimed"] == pytest.approx(found[f"{name}_observed"], abs=6)
        assert found[f"{name}_ece"] < 8
    assert found["small_observed"] > found["middle_observed"] > found["large_observed"]
    assert found["filtered_observed"] == pytest.approx(found["middle_observed"], abs=6)


def test_images_that_are_not_there():
    with pytest.raises(PolymodalError, match="test, val and train have 900 together"):
        claimed_and_observed(Drawn(), SPLITS, sizes=(100, 1000))


def test_gaps_of_few_queries_do_not_count():
    claimed = torch.tensor([0.75] * 100 + [0.15] * 99)
    right = torch.arange(199) < 70
    found = gaps("a", 7, [(claimed[:50], right[:50]), (claimed[50:], right[50:])])
    assert found["a_images"] == 7
    assert found["a_gap"] == pytest.approx(5)  # 70 of 100; of the others none is right
    assert (found["a_bin_1_claimed"], found["a_bin_1_observed"]) == pytest.approx((15, 0))
    assert found["a_ece"] == pytest.approx(100 * calibration_error(claimed, right))


def test_an_evaluation_calibrates_each_half_with_the_other():
    images, captions, owner = Drawn().embedded(split(400))
    found = calibration_errors("cosine", images, captions, owner)
    assert found.keys() == {"t2i_ece", "i2t_ece"}
    assert max(found.values()) < 0.08
    turned = captions.clone()
    turned[owner % 2 == 1] = -captions[owner % 2 == 1]  # right in one half alone
    assert calibration_errors("cosine", images, turned, owner)["t2i_ece"] > 0.3
    assert calibration_errors("cosine", images[:38], captions[:76], owner[:76]) == {}


def test_a_half_is_every_second_image_with_its_captions():
    images = torch.arange(5.0)[:, None]
    owner = torch.tensor([3, 0, 1, 3, 4])
    own, texts, whose = half(images, images[owner], owner, 1)
    assert own.flatten().tolist() == [1, 3]
    assert texts.flatten().tolist() == own[whose].flatten().tolist() == [3, 1, 3]
