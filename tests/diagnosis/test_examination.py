"""Which images an encoder is measured on, and what cannot be."""

import numpy as np
import pytest
import torch
from torch import nn

from marks import CELL, COLOURS, SETS, SIZE, SPLITS, TEST, TRAIN, Bare, Knowing, Marks
from polymodal.base.errors import PolymodalError
from polymodal.diagnosis.encoders import Encoder, ImageFeatures, as_encoder
from polymodal.diagnosis.examination import (
    Examination,
    Sample,
    Settings,
    compared,
    encoded,
    samples,
)
from polymodal.nn.scratch import Window


def test_two_splits_or_half_the_classes_of_one():
    fit, test = samples(SPLITS, Settings())
    assert (fit.dataset, test.dataset) == (TRAIN, TEST)
    assert (len(fit), len(test)) == (len(TRAIN), len(TEST))
    fit, test = samples(TRAIN, Settings())
    assert not set(fit.labels.tolist()) & set(test.labels.tolist())
    assert set(fit.labels.tolist()) | set(test.labels.tolist()) == set(TRAIN.chosen)
    fit, test = samples(Bare(TRAIN), Settings())  # without classes, every other image
    assert fit.rows.tolist()[:3] == [0, 2, 4]
    assert test.rows.tolist()[:3] == [1, 3, 5]


def test_fewer_images_are_spread_evenly():
    sample = Sample(TRAIN, np.arange(100)).fewer(5)
    assert sample.rows.tolist() == [0, 25, 50, 74, 99]
    assert sample.among == 100
    assert Sample(TRAIN, np.arange(5)).fewer(5).among is None
    assert sample.labels.tolist() == TRAIN.labels[[0, 25, 50, 74, 99]].tolist()
    assert torch.equal(sample.parts, torch.from_numpy(TRAIN.parts[sample.rows]))
    expected = TRAIN.images([50, 99])
    found = sample.pictures(np.array([2, 4]))
    assert np.array_equal(found.permute(0, 2, 3, 1).numpy(), expected)


class Rounds(Marks):
    """Marks whose list goes round the classes."""

    @property
    def labels(self):
        return np.tile(np.array(self.chosen), self.each)


@pytest.mark.parametrize("share", [1 / 2, 2 / 3, 3 / 4])
def test_fewer_images_have_all_classes_whatever_their_order(share):
    data = Rounds(tuple(range(15)), each=80)
    sample = Sample(data, np.arange(len(data))).fewer(round(share * len(data)))
    counts = np.bincount(sample.labels)
    assert counts.sum() == share * len(data)
    assert abs(counts - share * 80).max() <= 2
    assert (np.diff(sample.rows) > 0).all()


def test_what_is_fitted_to_is_not_measured():
    with pytest.raises(PolymodalError, match="found 'test' for both"):
        Settings(fit="test", test="test")


def test_features_are_those_of_each_image_in_order():
    encoder = as_encoder(Knowing(), SIZE)
    found = encoded(encoder, Sample(TRAIN, np.arange(len(TRAIN))), "")
    expected = torch.zeros(len(TRAIN), COLOURS)
    for row, label in enumerate(TRAIN.labels):
        expected[row, list(SETS[label])] = 1
    assert torch.equal(found.whole, expected)
    assert found.local.dtype == torch.float16


def test_large_features_keep_their_precision():
    class Large(nn.Module):
        def forward(self, x):
            return 1e6 * x[:, :, ::8, ::8]

    found = encoded(as_encoder(Large(), SIZE), Sample(TRAIN, np.arange(3)), "")
    assert found.local.dtype == torch.float32


def test_parts_are_squares_of_the_pictures_own_pixels():
    """Whatever the encoder makes of the pictures' size."""

    class Doubled(Knowing):
        def forward(self, x):
            return super().forward(x[:, :, ::2, ::2])

    plain = Examination(as_encoder(Knowing(), SIZE), SPLITS)
    doubled = Encoder(
        look=lambda images: ImageFeatures(*Knowing()(images.float() / 127.5 - 1)),
        size=2 * SIZE,
        window=Window(2 * CELL, 2 * CELL),
        sight="",
        device=torch.device("cpu"),
    )
    found = Examination(doubled, SPLITS)
    assert torch.equal(found.parts(found.test), plain.parts(plain.test))
    # and they are where the encoder itself finds the marks
    assert torch.equal(plain.parts(plain.test), plain.asked.local > 0)


def test_parts_are_found_in_the_middle_that_is_encoded():
    middle = Encoder(
        look=lambda images: ImageFeatures(
            *Knowing()(images[:, :, 12:36, 12:36].float() / 127.5 - 1)
        ),
        size=SIZE // 2,
        crop=0.5,
        window=Window(CELL, CELL),
        sight="",
        device=torch.device("cpu"),
    )
    found = Examination(middle, SPLITS)
    assert found.asked.local.shape[-1] == 4
    assert torch.equal(found.parts(found.test), found.asked.local > 0)


def test_attributes_by_a_threshold():
    found = Examination(as_encoder(Knowing(), SIZE), SPLITS)
    rows = torch.from_numpy(TEST.attributes)[found.test.labels]
    assert torch.equal(found.present(found.test), rows > 0)
    none = Examination(as_encoder(Knowing(), SIZE), SPLITS, Settings(threshold=0.8))
    assert not none.present(none.test).any()


@pytest.mark.parametrize(
    ("measure", "data", "why"),
    [
        ("tre", Bare(TEST), "the images have no classes with attributes"),
        ("parts", Bare(TEST), "it is not known where the images have their parts"),
        ("ratio", Bare(TEST), "the images have no classes with attributes"),
        ("ratio", Marks((0, 1), known=False), "it is not known where the images have their parts"),
        ("heatmaps", Bare(TEST), None),
        ("tre", Marks((0, 1), known=False), None),
    ],
)
def test_what_each_measure_needs(measure, data, why):
    encoder = as_encoder(Knowing(), SIZE)
    assert Examination(encoder, {"train": TRAIN, "test": data}).lacking(measure) == why
    assert Examination(encoder, {"train": data, "test": TEST}).lacking(measure) == why


def test_what_is_not_known_is_not_made_up():
    sample = Sample(Bare(TEST), np.arange(5))
    with pytest.raises(
        PolymodalError, match="Attributes are needed, but the images have no classes"
    ):
        _ = sample.attributes
    with pytest.raises(PolymodalError, match="Parts are needed, but it is not known where"):
        _ = sample.parts


def test_pictures_are_compared_pair_by_pair():
    pairs = torch.tensor([[0, 1], [3, 3], [1, 0]])
    found = compared(Sample(TEST, np.arange(5)), pairs, torch.device("cpu"))
    assert found[1] == pytest.approx(1)
    assert found[0] == pytest.approx(found[2].item())
    assert found[0] < 0.9


def test_what_cannot_be_examined():
    encoder = as_encoder(Knowing(), SIZE)
    with pytest.raises(
        PolymodalError, match=r"no split 'val', only train, test\. Name two of them"
    ):
        Examination(encoder, SPLITS, Settings(fit="val"))
    with pytest.raises(PolymodalError, match=r"found 1 and 1\. Give more"):
        Examination(encoder, Bare(Marks((0,), each=2)))
    narrow = Encoder(
        look=encoder.look, size=64, window=Window(), sight="", device=encoder.device, pixels=64
    )
    with pytest.raises(PolymodalError, match="takes pictures of 64×64, but the data are 48×48"):
        Examination(narrow, SPLITS)

    class Broken(Knowing):
        def forward(self, x):
            whole, local = super().forward(x)
            return whole / (x.mean() + 1 > 0.1 if len(x) == 1 else 0), local

    broken = Examination(as_encoder(Broken(), SIZE), SPLITS)
    with pytest.raises(PolymodalError, match="Some features are not finite"):
        _ = broken.asked
