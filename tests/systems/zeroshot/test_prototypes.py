"""Prototypes: unseen classes are where their attributes lead."""

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.metrics.class_accuracy import top1
from polymodal.systems.zeroshot.prototypes import (
    Fitting,
    best_steps,
    centred,
    cosines,
    cosines_about,
    fitted,
    ridge,
)

CLASSES, SEEN = 40, 30


@pytest.fixture(scope="module")
def world():
    """Features that are a linear map of attributes and noise; the last ten classes are unseen."""
    torch.manual_seed(0)
    attributes = torch.rand(CLASSES, 12)
    labels = torch.arange(CLASSES).repeat(20)
    features = (attributes @ torch.randn(12, 24))[labels] + 0.3 * torch.randn(len(labels), 24)
    return features, labels, attributes


def unseen_accuracy(features, labels, prototypes):
    unseen = torch.arange(CLASSES) >= SEEN
    rows = labels >= SEEN
    return top1(cosines(features[rows], prototypes), labels[rows], unseen)


@pytest.mark.parametrize("hidden", [0, 64])
def test_unseen_classes_are_recognised(world, hidden):
    features, labels, attributes = world
    rows = labels < SEEN
    how = Fitting(steps=300, lr=1e-2, hidden=hidden)
    net = fitted(features[rows], labels[rows], attributes, how)
    assert unseen_accuracy(features, labels, net(attributes)) > 60  # chance is 10


def test_the_ridge_recognises_them_too(world):
    features, labels, attributes = world
    rows = labels < SEEN
    prototypes = ridge(features[rows], labels[rows], attributes, 0.01)
    assert unseen_accuracy(features, labels, prototypes) > 80


def test_unless_told_as_many_steps_as_recognise_classes_that_are_held_out(world):
    features, labels, attributes = world
    rows = labels < SEEN
    known = (features[rows], labels[rows], attributes)
    how = Fitting(lr=1e-2, most=200)
    steps = best_steps(*known, how, 0)
    assert 10 <= steps <= 200 and steps % 10 == 0
    net, same = fitted(*known, how), fitted(*known, Fitting(lr=1e-2, steps=steps))
    assert torch.equal(net(attributes), same(attributes))
    assert unseen_accuracy(features, labels, net(attributes)) > 50
    few = labels[rows] < 4
    assert best_steps(known[0][few], known[1][few], attributes, how, 0) == 200


def test_cosines_about_the_middle_do_not_see_what_all_classes_share(world):
    features, labels, attributes = world
    rows = labels < SEEN
    for known in (torch.arange(SEEN), torch.arange(len(attributes)) < SEEN):
        found = [
            cosines_about(moved, ridge(moved[rows], labels[rows], attributes, 0.01), known)
            for moved in (features, features + 100)
        ]
        torch.testing.assert_close(found[0], found[1], rtol=1e-2, atol=1e-2)


def test_the_ridge_is_the_least_of_its_squares(world):
    """Against the form in attributes, and a step any way."""
    features, labels, attributes = (x.double() if x.is_floating_point() else x for x in world)
    rows, weight = labels < SEEN, 0.7
    found = ridge(features[rows], labels[rows], attributes, weight)
    told = torch.nn.functional.normalize(attributes, dim=-1)
    means = torch.stack([features[labels == c].mean(0) for c in range(SEEN)])
    known, middle = told[:SEEN] - told[:SEEN].mean(0), means.mean(0)
    square = known.T @ known + weight * torch.eye(12, dtype=torch.double)
    w = torch.linalg.inv(square) @ known.T @ (means - middle)
    torch.testing.assert_close(found, middle + (told - told[:SEEN].mean(0)) @ w)

    def loss(w):
        return (known @ w - (means - middle)).square().sum() + weight * w.square().sum()

    for _ in range(5):
        assert loss(w + 1e-3 * torch.randn_like(w)) > loss(w)


def test_the_same_seed_gives_the_same_prototypes(world):
    features, labels, attributes = world
    state = torch.get_rng_state()
    first, again, other = (
        fitted(features, labels, attributes, Fitting(steps=3), seed)(attributes)
        for seed in (0, 0, 1)
    )
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_the_length_of_a_feature_says_nothing(world):
    features, _, _ = world
    prototypes = torch.randn(CLASSES, 24)
    torch.testing.assert_close(cosines(5 * features, prototypes), cosines(features, prototypes))


def test_what_cannot_be_fitted(world):
    features, labels, attributes = world
    with pytest.raises(PolymodalError, match="two classes or more"):
        fitted(features[labels == 0], labels[labels == 0], attributes, Fitting())
    with pytest.raises(PolymodalError, match="Some attributes are not finite"):
        ridge(features, labels, attributes.clone().fill_(torch.nan))
    with pytest.raises(PolymodalError, match="weight of a ridge must be above 0"):
        ridge(features, labels, attributes, 0.0)


def test_centred_attributes_are_about_1_and_nothing_that_known_classes_share():
    unit = torch.nn.functional.normalize(torch.rand(6, 5), dim=1)
    known = torch.tensor([True, False, True, True, False, True])
    found = centred(unit, known)
    torch.testing.assert_close(found[known].mean(0), torch.zeros(5), atol=1e-6, rtol=0)
    torch.testing.assert_close(found[0] - found[1], 5**0.5 * (unit[0] - unit[1]))


def test_centred_prototypes_do_not_see_what_all_images_share(world):
    features, labels, attributes = world
    rows = labels < SEEN
    how = Fitting(steps=200, lr=1e-2, centred=True, learn_scale=True, decay=1e-3)
    scores = []
    for moved in (features, features + 100):
        net = fitted(moved[rows], labels[rows], attributes, how)
        scores.append(net.scores(moved, attributes))
    torch.testing.assert_close(scores[0], scores[1], rtol=1e-2, atol=1e-2)
    unseen = torch.arange(CLASSES) >= SEEN
    assert top1(scores[0][~rows], labels[~rows], unseen) > 60  # chance is 10


def test_centred_prototypes_are_a_linear_map_of_centred_attributes(world):
    features, labels, attributes = world
    net = fitted(features, labels, attributes, Fitting(steps=3, centred=True))
    inputs = centred(attributes / attributes.norm(dim=1, keepdim=True), labels.bincount() > 0)
    prototypes = inputs @ net.net[0].weight.T + net.net[0].bias
    torch.testing.assert_close(net(attributes), prototypes)
    expected = cosines(features - features.mean(0), prototypes)
    torch.testing.assert_close(net.scores(features, attributes), expected)


def test_a_learned_scale_and_decay_change_the_fit(world):
    features, labels, attributes = world
    plain, scaled, decayed = (
        fitted(features, labels, attributes, Fitting(steps=30, lr=1e-2, **how))(attributes)
        for how in ({}, {"learn_scale": True}, {"decay": 1.0})
    )
    assert not torch.equal(plain, scaled)
    assert decayed.norm() < plain.norm()
