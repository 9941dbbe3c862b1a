"""Classes from places: each way of joining them against the same by loops, and hand-made cases."""

from dataclasses import replace

import pytest
import torch

from learners import made
from patches import TEST, TRAIN
from polymodal.base.errors import PolymodalError
from polymodal.metrics.class_accuracy import top1
from polymodal.systems.zeroshot.place_predictions import (
    Places,
    by_mean,
    by_place,
    learned_from,
    local_scores,
    net_for,
    places_of,
)
from polymodal.systems.zeroshot.prototypes import Fitting

SPLITS = {"train": replace(TRAIN, fingerprint="train"), "test": replace(TEST, fingerprint="test")}


@pytest.fixture(scope="module")
def system():
    """An AlexNet of few maps, as it starts."""
    found = made("fc", encoder="alex", slim=32, dim=16, fit_steps=20)
    found.learned["train"] = "train"
    return found.eval()


def drawn(seed, n, d=6, p=4, classes=16):
    chance = torch.Generator().manual_seed(seed)
    labels = torch.arange(n) % classes
    return Places(torch.randn(n, d, p, generator=chance), labels)


@pytest.mark.parametrize(("which", "side"), [("last", 1), ("unpooled", 3)])
def test_places_are_those_of_the_maps(system, which, side):
    found = places_of(system, TEST, which)
    assert found.features.shape == (len(TEST), 6, side**2)
    assert found.labels.tolist() == TEST.labels.tolist()
    images = system.examples(TEST).images(torch.arange(5).numpy())
    with torch.no_grad():
        own = getattr(system.see(images), which)
    torch.testing.assert_close(found.features[:5], own.reshape(5, 6, -1))


def test_the_mean_is_recognised(system):
    learned, tested = drawn(0, 48), drawn(1, 8)
    found = by_mean(system, learned, tested)
    net = net_for(system, learned.features.mean(2), learned.labels).double()
    prototypes = net(system.attributes.double())
    for image in range(8):
        mean = sum(tested.features[image, :, p].double() for p in range(4)) / 4
        for c in (0, 7):
            cosine = torch.cosine_similarity(mean, prototypes[c], dim=0)
            assert found[image, c].item() == pytest.approx(cosine.item(), abs=1e-5)


def test_each_place_is_recognised_by_itself(system):
    learned, tested = drawn(0, 48), drawn(1, 8)
    among = torch.arange(16) < 5
    found = by_place(system, learned, tested, among)
    rows = torch.stack([learned.features[i, :, p] for i in range(48) for p in range(4)])
    labels = torch.tensor([learned.labels[i] for i in range(48) for _ in range(4)])
    prototypes = net_for(system, rows, labels).double()(system.attributes.double())
    for image in range(8):
        chances = torch.zeros(16, dtype=torch.double)
        for p in range(4):
            place = tested.features[image, :, p].double()
            scores = [torch.cosine_similarity(place, prototypes[c], dim=0) for c in range(5)]
            told = torch.stack(scores).mul(Fitting().scale).exp()
            chances[:5] += told / told.sum() / 4
        torch.testing.assert_close(found[image].double(), chances, atol=1e-5, rtol=1e-4)


def test_one_place_that_knows_is_heard_in_the_mean_of_features(system):
    """Its feature is long, those of the others short: they outvote it, but do not outweigh it."""
    learned = drawn(0, 160)
    attributes = system.attributes[learned.labels]
    way = torch.randn(8, 6, generator=torch.Generator().manual_seed(3))
    learned = replace(learned, features=(attributes @ way)[:, :, None].expand(-1, -1, 4))
    noise = torch.randn(160, 6, 4, generator=torch.Generator().manual_seed(4))
    features = 0.05 * noise
    features[:, :, 0] = attributes @ way
    tested = replace(learned, features=features)
    every = torch.ones(16, dtype=torch.bool)
    system.config, kept = replace(system.config, fit_steps=300, fit_lr=1e-2), system.config
    before = top1(by_mean(system, learned, tested), tested.labels, every)
    after = top1(by_place(system, learned, tested, every), tested.labels, every)
    system.config = kept
    assert before > after + 10


def test_all_four_ways_are_scored(system):
    found = local_scores(system, SPLITS)
    assert list(found) == [
        "zsl_top1",
        "representations_pool",
        "predictions_pool",
        "representations_no_pool",
        "predictions_no_pool",
    ]
    assert all(0 <= value <= 100 for value in found.values())
    # after the last pooling a single place is left of so small a picture: both ways are one
    assert found["representations_pool"] == found["predictions_pool"]


def test_prototypes_are_fitted_to_what_the_model_learned_from(system):
    assert learned_from(system, SPLITS) is SPLITS["train"]
    with pytest.raises(
        PolymodalError, match=r"None of these splits is the training split .* found test"
    ):
        learned_from(system, {"test": TEST})
