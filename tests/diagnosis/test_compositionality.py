"""The tree reconstruction error: against its definition image by image, and on features of known make."""

from dataclasses import replace

import pytest
import torch
from torch.nn.functional import cosine_similarity

from polymodal.base.errors import PolymodalError
from polymodal.diagnosis import compositionality
from polymodal.diagnosis.compositionality import (
    HELD,
    Described,
    Fit,
    best_steps,
    descent,
    distance,
    error,
    fit,
    scrambled,
    tre_ratio,
    tre_ratios,
)

CLASSES, ATTRIBUTES, WIDTH = 30, 12, 16


def described(made, noise=0.1, seed=0, classes=slice(0, 20)):
    """Ten images of each of some classes, their features made of attributes or of nothing."""
    generator = torch.Generator().manual_seed(7)
    rows = torch.rand(CLASSES, ATTRIBUTES, generator=generator) < 0.4
    rows[~rows.any(1), 0] = True
    vectors = torch.randn(ATTRIBUTES, WIDTH, generator=generator)
    attributes = rows[classes].repeat_interleave(10, 0)
    shape = (len(attributes), WIDTH)
    noises = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    features = attributes.float() @ vectors + noise * noises if made else noises
    return Described(features, attributes)


def slow_error(data, eta):
    total = 0.0
    for features, attributes in zip(data.features, data.attributes, strict=True):
        total += 1 - cosine_similarity(features, eta[attributes].sum(0), dim=0).item()
    return total / len(data.features)


def test_the_error_is_the_mean_distance_of_its_images():
    data, eta = described(made=True, noise=1.0), torch.randn(ATTRIBUTES, WIDTH)
    assert error(data, eta) == pytest.approx(slow_error(data, eta), abs=1e-5)


def test_sums_are_found_and_hold_for_classes_never_seen():
    train, test = described(made=True), described(made=True, classes=slice(20, 30), seed=1)
    assert error(train, fit(train, Fit()).converged) < 0.01
    found = tre_ratio(train, test, Fit(restarts=2))
    assert found["tre"] < 0.05
    assert found["tre_ratio"] < 0.15
    assert found["tre_ratio"] == pytest.approx(found["tre"] / found["tre_random"], rel=0.1)
    assert found["tre_ratio_spread"] < 0.05


def test_features_of_nothing_are_made_of_attributes_as_little_as_of_chance():
    train, test = described(made=False), described(made=False, classes=slice(20, 30), seed=1)
    assert tre_ratio(train, test, Fit(restarts=2))["tre_ratio"] == pytest.approx(1, abs=0.1)


def test_random_attributes_of_few_classes_are_known_by_heart():
    """New images of the same six classes: any six different rows tell them apart as well as the true."""
    train, test = (described(made=True, classes=slice(0, 6), seed=seed) for seed in (0, 1))
    by_class = tre_ratio(train, test, Fit(restarts=1, random="class"))
    assert by_class["tre_random"] < 0.02
    assert by_class["tre_ratio"] == pytest.approx(1, abs=0.3)
    by_image = tre_ratio(train, test, Fit(restarts=1))
    assert by_image["tre_random"] > 0.1  # which tells nothing of an image that was not fitted to


def test_no_step_from_what_was_fitted_makes_the_error_smaller():
    data = described(made=True, noise=2.0)
    eta = fit(data, Fit(tolerance=1e-6)).converged
    least = error(data, eta)
    for seed in range(5):
        step = torch.randn(eta.shape, generator=torch.Generator().manual_seed(seed))
        assert error(data, eta + 0.05 * step) > least
    other = fit(data, Fit(tolerance=1e-6), seed=1).converged
    assert error(data, other) == pytest.approx(least, abs=0.003)


def test_a_fit_that_is_stopped_knows_less_by_heart():
    """Fewer classes than attributes: to convergence, those of others are the worse for it."""
    train = described(made=True, noise=2.0, classes=slice(0, 10))
    test = described(made=True, noise=2.0, classes=slice(20, 30), seed=1)
    found = fit(train, Fit())
    assert error(train, found.stopped) > error(train, found.converged)
    assert error(test, found.stopped) < error(test, found.converged)


def test_a_fit_is_stopped_where_held_out_classes_have_their_least_error():
    how, data = Fit(most=35, patience=100), described(made=True, noise=2.0, classes=slice(0, 10))
    rows, sums = data.grouped()
    held = torch.arange(len(rows)) % HELD == 0
    errors = {}
    for most in (10, 20, 30, 35):
        *_, (_, eta) = descent(rows[~held], sums[~held], replace(how, most=most), 0)
        errors[most] = distance(rows[held], sums[held], eta).item()
    best = min(errors, key=errors.get)
    assert best_steps(rows, sums, how, 0) == best
    found = fit(data, how)
    assert torch.equal(found.stopped, fit(data, replace(how, most=best)).converged)
    assert not torch.equal(found.stopped, found.converged)


def test_several_sets_are_measured_by_one_fit(monkeypatch):
    train = described(made=True)
    tests = [described(made=True, classes=slice(20, 30), seed=1), described(made=True, seed=2)]
    counted = []

    def counting(data, how, seed):
        counted.append(len(data.features))
        return fit(data, how, seed)

    alone = [tre_ratio(train, test, Fit(restarts=2)) for test in tests]
    monkeypatch.setattr(compositionality, "fit", counting)
    both = tre_ratios(train, tests, Fit(restarts=2))
    assert counted == [200] * 4  # two restarts, with attributes and with random ones
    assert both[0] == alone[0]
    assert both[1]["tre"] == alone[1]["tre"]
    assert both[1]["tre_random"] == pytest.approx(alone[1]["tre_random"], rel=0.1)  # others drawn


@pytest.mark.parametrize("random", ["image", "class"])
def test_random_attributes_are_as_many(random):
    train, test = described(made=True), described(made=True, seed=1)
    for data, drawn in zip((train, test), scrambled([train, test], random), strict=True):
        assert torch.equal(drawn.attributes.sum(1), data.attributes.sum(1))
        assert not torch.equal(drawn.attributes, data.attributes)
        assert torch.equal(drawn.features, data.features)
        different = len(drawn.attributes.unique(dim=0))
        assert different == 20 if random == "class" else different > 100


def test_random_attributes_of_a_class_are_the_same_for_held_out_images():
    train, test = described(made=True), described(made=True, seed=1, classes=slice(10, 30))
    known, asked = scrambled([train, test], "class")
    assert torch.equal(known.attributes[100:], asked.attributes[:100])  # classes 10 to 19
    known, asked = scrambled([train, test], "image")
    assert not torch.equal(known.attributes[100:], asked.attributes[:100])
    again = scrambled([train, test], "image", seed=1)[0]
    assert not torch.equal(again.attributes, known.attributes)


def test_what_cannot_be_measured():
    alike = described(made=True, classes=slice(0, 1))
    with pytest.raises(PolymodalError, match="none can be held out"):
        fit(alike, Fit())
    data = described(made=True)
    with pytest.raises(PolymodalError, match="found 200 of features and 3 of attributes"):
        Described(data.features, data.attributes[:3])
    with pytest.raises(PolymodalError, match="Some features are not finite"):
        Described(data.features.clone().fill_(torch.inf), data.attributes)
    with pytest.raises(PolymodalError, match="have no attribute at all"):
        Described(data.features, torch.zeros_like(data.attributes))
    other = Described(data.features, data.attributes[:, :5] | True)
    with pytest.raises(PolymodalError, match="have 12 attributes, the others 5"):
        tre_ratio(data, other)
