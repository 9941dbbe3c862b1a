"""What an index learns of its answers: claims that come true in every size, against simulated truth."""

import numpy as np
import pytest
import torch

from clusters import clustered, numbered
from polymodal.base.errors import PolymodalError
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity import measure, ranks
from polymodal.metrics.calibration import calibration_error, reliability
from polymodal.search import Item, Items, build, calibrate, calibrating
from polymodal.search.calibrating import (
    claims,
    fit,
    independent,
    labelled,
    outcomes,
    sizes_of,
    some_of,
)
from polymodal.search.sureness import log_odds


def world(images: int, captions: int, seed: int):
    """Images with captions whose noise differs from one to the next, as points."""
    make = torch.Generator().manual_seed(seed)
    pictures = torch.randn(images, 12, generator=make)
    owner = torch.arange(images * captions) // captions
    stray = 0.8 + 0.8 * torch.rand(len(owner), 1, generator=make)
    texts = pictures[owner] + stray * torch.randn(len(owner), 12, generator=make)
    return pictures, texts, owner


def named(count: int, prefix: str = "") -> Items:
    return Items.of(Item(id=f"{prefix}{place}") for place in range(count))


VAL, TEST = world(1000, 2, seed=1), world(3200, 4, seed=2)


@pytest.mark.parametrize("size", [200, 400, 3200])
def test_claims_come_true_in_indexes_smaller_and_larger_than_validation(size):
    images, captions, owner = TEST
    index = build(images[:size], named(size), side="image", measure="cosine")
    known = calibrate(index, *VAL, split="val")
    assert (known.asked, known.queries, known.sizes[-1]) == ("caption", 2000, size)
    asked = owner < size
    claimed, right = claims(
        index, known, images, captions[asked], owner[asked], ids=index.items.ids
    )
    bins = [part for part in reliability(claimed, right).values() if part.count >= 50]
    assert len(bins) >= 4  # the signals tell much
    for part in bins:
        assert part.gap < 0.03 + 1 / part.count**0.5  # two standard errors at the most
    assert claimed.mean().item() == pytest.approx(right.double().mean().item(), abs=0.04)


def test_claims_come_true_behind_a_filter():
    """Sizes between those that were learned."""
    images, captions, owner = TEST
    index = build(images, named(3200), side="image", measure="cosine")
    known = calibrate(index, *VAL, split="val")
    only = some_of(index, 1600)
    assert only is not None and only.places.unique().numel() == 1600
    claimed, right = claims(
        index, known, images, captions, owner, ids=index.items.ids, only=only
    )  # the others' own images are added to those that the filter leaves
    assert calibration_error(claimed, right) < 0.04
    every, _ = claims(index, known, images, captions, owner, ids=index.items.ids)
    assert claimed.mean() > every.mean() + 0.05


@pytest.mark.parametrize("side", ["image", "caption"])
@pytest.mark.parametrize("name", ["wasserstein", "kl", "bhattacharyya"])
def test_outcomes_are_those_of_ranks_where_the_index_holds_the_split(side, name):
    images = clustered(60, seed=1)
    torch.manual_seed(0)
    owner = torch.arange(60).repeat_interleave(2)[torch.randperm(120)][:100]
    noise = torch.randn(100, 16)
    captions = DiagonalGaussian(images.mean[owner] + noise, torch.randn(100, 16))
    items = images if side == "image" else captions
    index = build(items, named(len(items)), side=side, measure=name)
    asked = labelled(index, images, captions, owner, index.items.ids)
    scores, right = outcomes(index, asked)
    by_image, by_caption = ranks(measure(name), images, captions, owner)
    rank = by_caption if side == "image" else by_image
    has = torch.ones(100, dtype=torch.bool) if side == "image" else torch.bincount(owner) > 0
    assert torch.equal(right[has], (rank < 10)[has])
    assert 0 < right.sum() < len(right)
    expected = index.search(asked.queries, 30)[0]
    torch.testing.assert_close(scores[has], expected[has], rtol=1e-4, atol=1e-4)


def test_own_items_are_added_where_the_index_holds_others():
    images, captions, owner = world(50, 2, seed=3)
    others = world(80, 1, seed=4)[0]
    index = build(others, named(80), side="image", measure="cosine")
    scores, right = outcomes(index, labelled(index, images, captions, owner, ()))
    for query in range(100):
        own = torch.cosine_similarity(captions[query], images[owner[query]], 0)
        wrong = torch.cosine_similarity(captions[query][None], others)
        assert right[query] == ((wrong >= own).sum() < 10)
        every = torch.cat([wrong, own[None]]).sort(descending=True).values
        torch.testing.assert_close(scores[query], every[:30])


def test_a_model_that_finds_all_alike_is_never_right():
    images = torch.ones(40, 4)
    index = build(images, named(40), side="image", measure="cosine")
    asked = labelled(index, images, torch.ones(80, 4), torch.arange(80) // 2, index.items.ids)
    assert not outcomes(index, asked)[1].any()


def drawn(rising: float, count: int = 4000):
    rng = np.random.default_rng(0)
    told = rng.normal(size=(count, 2))
    chance = 1 / (1 + np.exp(-(0.5 + rising * told[:, 0] - told[:, 1])))
    return told, rng.uniform(size=count) < chance


@pytest.mark.parametrize("rising", [2.0, -1.0])
def test_weights_are_those_of_the_draw(rising):
    told, right = drawn(rising)
    assert fit(told, right) == pytest.approx((0.5, rising, -1.0, 0.0), abs=0.2)
    shifted = torch.from_numpy(10 * told + 7)
    torch.testing.assert_close(
        log_odds(shifted, fit(shifted.numpy(), right)),
        log_odds(torch.from_numpy(told), fit(told, right)),
        rtol=1e-3,
        atol=1e-3,
    )


def test_a_bend_is_found():
    """Odds that rise slowly below a half and fast above."""
    rng = np.random.default_rng(0)
    told = rng.normal(size=(8000, 2))
    truth = log_odds(torch.from_numpy(told), (0.0, 1.5, 0.0, 0.7))
    found = fit(told, rng.uniform(size=8000) < truth.sigmoid().numpy())
    claimed = log_odds(torch.from_numpy(told), found).sigmoid()
    assert (claimed - truth.sigmoid()).abs().max() < 0.07
    assert found == pytest.approx((0.0, 1.5, 0.0, 0.7), abs=0.2)


@pytest.mark.parametrize(
    ("told", "right"),
    [
        (np.random.default_rng(0).normal(size=(100, 2)), np.tile([True, False], 50)),
        (np.ones((100, 2)), np.arange(100) < 10),
        (np.random.default_rng(0).normal(size=(100, 2)), np.ones(100, bool)),
    ],
    ids=["unrelated", "constant", "all right"],
)
def test_signals_that_tell_nothing_have_no_weight(told, right):
    constant, *weights = fit(told, right)
    assert weights == [0.0, 0.0, 0.0]
    assert 1 / (1 + np.exp(-constant)) == pytest.approx(right.mean(), abs=0.02)
    assert constant < 5  # a hundred right answers are no certainty


def test_dependent_queries_count_less():
    """Twenty copies of each of twenty queries do not tell more than the twenty."""
    told, right = (np.repeat(part[:20], 20, axis=0) for part in drawn(0.6))
    assert any(fit(told, right)[1:3])
    assert not any(fit(told, right, share=1 / 20)[1:3])


@pytest.mark.parametrize("shared", [0.0, 0.5, 1.0])
def test_dependence_is_the_design_effect(shared):
    """Five outcomes of a group, a share of them drawn once for all: the correlation is its square."""
    rng = np.random.default_rng(0)
    once = np.repeat(rng.uniform(size=4000) < 0.3, 5)
    each = rng.uniform(size=20000) < 0.3
    right = torch.from_numpy(np.where(rng.uniform(size=20000) < shared, once, each))
    found = independent(right, torch.arange(20000) // 5)
    assert found == pytest.approx(1 / (1 + 4 * shared**2), abs=0.04)
    assert independent(torch.ones(20, dtype=torch.bool), torch.arange(20) // 5) == pytest.approx(
        0.2
    )


def test_sizes_go_down_by_quarters():
    assert sizes_of(4407) == (68, 275, 1101, 4407)
    assert sizes_of(80) == (20, 80)
    assert sizes_of(79) == (79,)


def test_many_queries_are_thinned_out(monkeypatch):
    monkeypatch.setattr(calibrating, "MOST", 100)
    index = build(TEST[0][:50], named(50), side="image", measure="cosine")
    assert calibrate(index, *VAL, split="val").queries == 100


def test_few_queries_or_items_teach_nothing():
    images, captions, owner = VAL
    index = build(images[:40], numbered(40), side="image", measure="cosine")
    with pytest.raises(PolymodalError, match="19 queries are too few"):
        calibrate(index, images, captions[:19], owner[:19], split="val")
    index = build(images[:10], numbered(10), side="image", measure="cosine")
    with pytest.raises(PolymodalError, match=r"10 items are too few .* each is among the first 10"):
        calibrate(index, *VAL, split="val")
