"""The ranking by lifted vectors is the ranking by the measure, whichever side asks."""

import pytest
import torch
from brute import CASES, LIFTED, both, brute

from polymodal.maths.similarity import centre, lift, lifting, measure, top_k, turned

LIFTS = [case for case in CASES if case[0] in LIFTED]


def found(name, images, captions, frame):
    """What an exhaustive index of the lifted vectors gives: a product or squared distance a pair."""
    x, y = lift(name, images, "image", frame), lift(name, captions, "caption", frame)
    if lifting(name).metric == "l2":
        return [torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist").square()
                for a, b in zip(x, y, strict=True)]  # fmt: skip
    return [a @ b.T for a, b in zip(x, y, strict=True)]


@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize(("name", "pair"), LIFTS)
def test_lifted_rankings_equal_brute_force_both_ways(name, pair, framed):
    torch.manual_seed(0)
    images, captions = both(name, 9, 11, 4, pair, shift=1.0)
    values = found(name, images, captions, centre(images) if framed else None)
    expected = brute(name, images, captions)
    l2 = lifting(name).metric == "l2"
    nearness = -values[0] if l2 else torch.stack(values).amax(0)
    for dim in (0, 1):
        assert torch.equal(nearness.argsort(dim), expected.argsort(dim))
    torch.testing.assert_close(lifting(name).read(*values), expected)


def test_metrics_and_widths_are_what_is_documented():
    widths = {}
    for name, pair in LIFTS:
        images, _ = both(name, 2, 2, 10, pair)
        widths[name] = (lifting(name).metric, [v.shape[1] for v in lift(name, images, "image")])
    assert widths == {
        "cosine": ("inner product", [10]),
        "mahalanobis": ("inner product", [22]),
        "kl": ("inner product", [22]),
        "min_kl": ("inner product", [22, 22]),
        "wasserstein": ("l2", [20]),
        "squared_wasserstein": ("l2", [20]),
        "csd": ("inner product", [12]),
    }


def test_the_best_by_min_kl_are_among_the_best_of_its_two_lifts():
    torch.manual_seed(1)
    images, captions = both("min_kl", 40, 60, 5)
    forward, backward = found("min_kl", images, captions, None)
    _, places = top_k(lifting("min_kl"), images, captions, 7)
    for row in range(len(images)):
        merged = {*forward[row].topk(7).indices.tolist(), *backward[row].topk(7).indices.tolist()}
        assert set(places[row].tolist()) <= merged


@pytest.mark.parametrize("name", [*LIFTED, "bhattacharyya"])
def test_turned_measures_have_captions_first(name):
    torch.manual_seed(2)
    images, captions = both(name, 6, 8, 5)
    expected = measure(name)(images, captions).T
    torch.testing.assert_close(turned(measure(name))(captions, images), expected)
    scores, places = top_k(turned(measure(name)), captions, images, 3, block=2)
    torch.testing.assert_close(scores, expected.topk(3).values)
    torch.testing.assert_close(expected.gather(1, places), scores)


@pytest.mark.parametrize("name", LIFTED)
def test_turned_lifts_fit_each_other_too(name):
    torch.manual_seed(3)
    images, captions = both(name, 6, 8, 5)
    back = turned(lifting(name))
    x, y = back.lift(images, "image"), back.lift(captions, "caption")
    if back.metric == "l2":
        values = [torch.cdist(a, b).square() for a, b in zip(x, y, strict=True)]
    else:
        values = [a @ b.T for a, b in zip(x, y, strict=True)]
    torch.testing.assert_close(back.read(*values), brute(name, images, captions))
