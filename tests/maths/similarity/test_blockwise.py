"""Ranks and top-k against naive loops, with ties, in blocks of any size."""

from dataclasses import replace

import pytest
import torch
from brute import NAMES, both, draw, wide
from memory import Largest, Peak

from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity import (
    best_scores,
    blockwise,
    cosine,
    kl,
    measure,
    min_kl,
    ranks,
    top_k,
)


def naive_ranks(scores, owner):
    """For each query, count the wrong answers at least as good as the best right one."""
    m, n = scores.shape
    i2t = []
    for i in range(m):
        best = max(scores[i, j].item() for j in range(n) if owner[j] == i)
        i2t.append(sum(scores[i, j].item() >= best - 1e-9 for j in range(n) if owner[j] != i))
    t2i = []
    for j in range(n):
        right = scores[owner[j], j].item()
        t2i.append(sum(scores[i, j].item() >= right - 1e-9 for i in range(m) if i != owner[j]))
    return i2t, t2i


@pytest.mark.parametrize("block", [3, 7, 1000])
@pytest.mark.parametrize("tied", [False, True])
def test_ranks_equal_a_naive_loop(block, tied):
    torch.manual_seed(0)
    # few distinct directions make many exact ties
    draw = (
        (lambda n: torch.randint(-1, 2, (n, 3)).double() + 0.0)
        if tied
        else (lambda n: torch.randn(n, 16, dtype=torch.double))
    )
    images, captions = draw(23), draw(69)
    owner = torch.arange(23).repeat_interleave(3)[torch.randperm(69)]
    i2t, t2i = ranks(cosine, images, captions, owner, block=block)
    expected = naive_ranks(cosine(images, captions), owner)
    assert (i2t.tolist(), t2i.tolist()) == expected


def test_float32_ties_are_ties_however_they_are_rounded():
    torch.manual_seed(1)
    captions = torch.randn(4, 512).repeat(50, 1)  # each caption stands fifty times
    images = torch.randn(200, 512)
    owner = torch.arange(200)
    i2t, _ = ranks(cosine, images, captions, owner, block=17)
    assert (i2t >= 49).all()


def test_equal_scores_for_all_are_last():
    same = torch.ones(10, 4)
    i2t, t2i = ranks(cosine, same, same, torch.arange(10))
    assert i2t.tolist() == t2i.tolist() == [9] * 10


def test_nan_is_last_too():
    bad = torch.full((10, 4), torch.nan)
    i2t, t2i = ranks(cosine, bad, torch.randn(10, 4), torch.arange(10))
    assert i2t.min() >= 9
    assert t2i.min() >= 9


def test_an_image_without_captions_finds_nothing():
    i2t, _ = ranks(cosine, torch.eye(3), torch.eye(3)[:2], torch.tensor([0, 1]))
    assert i2t.tolist() == [0, 0, 2]


@pytest.mark.parametrize("block", [4, 5, 100])
def test_top_k_equals_a_full_sort(block):
    torch.manual_seed(2)
    queries, items = torch.randn(6, 8), torch.randn(33, 8)
    scores, places = top_k(cosine, queries, items, 5, block=block)
    full = cosine(queries, items).sort(1, descending=True)
    assert torch.equal(places, full.indices[:, :5])
    torch.testing.assert_close(scores, full.values[:, :5])


def test_top_k_of_fewer_items_gives_them_all():
    _, places = top_k(cosine, torch.randn(2, 4), torch.randn(3, 4), 10)
    assert places.shape == (2, 3)


@pytest.mark.parametrize("name", NAMES)
def test_ranks_under_every_measure_equal_a_naive_loop(name):
    torch.manual_seed(3)
    images, captions = both(name, 11, 33, 6)
    owner = torch.arange(11).repeat_interleave(3)[torch.randperm(33)]
    found = ranks(measure(name), images, captions, owner, block=8)
    expected = naive_ranks(wide(name, images, captions), owner)
    assert tuple(rank.tolist() for rank in found) == expected


@pytest.mark.parametrize("name", [name for name in NAMES if name != "mahalanobis"])
def test_float32_ties_of_every_measure_are_ties(name):
    torch.manual_seed(4)
    four = draw(4, 1024, dtype=torch.float32)
    captions = DiagonalGaussian(four.mean.repeat(10, 1), four.log_var.repeat(10, 1))
    images = draw(40, 1024, dtype=torch.float32)
    if measure(name).kinds[0] == ("point", "point"):
        images, captions = images.mean, captions.mean
    i2t, t2i = ranks(measure(name), images, captions, torch.arange(40), block=17)
    assert (i2t >= 9).all()
    # and turned round, where the same pictures stand ten times
    i2t, t2i = ranks(measure(name), captions, images, torch.arange(40), block=17)
    assert (t2i >= 9).all()


def test_any_function_is_a_measure():
    torch.manual_seed(5)
    images, captions = torch.randn(100, 5), torch.randn(100, 5)
    owner = torch.randint(0, 100, (100,))
    plain = ranks(lambda x, y: cosine(x, y), images, captions, owner, block=7)
    for found, expected in zip(plain, ranks(cosine, images, captions, owner), strict=True):
        assert torch.equal(found, expected)
    best = best_scores(lambda x, y: cosine(x, y), images, captions, owner)
    torch.testing.assert_close(best, best_scores(cosine, images, captions, owner))


def test_blocks_keep_memory_bounded_whatever_the_number_of_captions(monkeypatch):
    monkeypatch.setattr(blockwise, "BYTES", 4 * 20 * 100)  # a hundred captions at a time
    images = draw(20, 8, dtype=torch.float32)
    captions, owner = draw(5000, 8, dtype=torch.float32), torch.randint(0, 20, (5000,))
    largest = Largest()
    with largest:
        ranks(kl, images, captions, owner)
    # the captions' own ranks, neither 20 × 5000 scores nor 5000 × 16 lifted numbers
    assert 0 < largest.numbers <= 5000


def test_a_block_is_gone_before_the_next_is_made():
    images, captions = draw(300, 2, dtype=torch.float32), draw(2000, 2, dtype=torch.float32)
    with Peak() as ranking:
        ranks(min_kl, images, captions, torch.arange(2000) % 300, block=400)
    with torch.no_grad(), Peak() as searching:
        top_k(min_kl, images, captions, 3, block=400)
    # the two products of a block, never a third; all else is small beside them
    for peak in (ranking, searching):
        assert 2 <= peak.bytes / (4 * 300 * 400) < 2.5


def test_images_are_lifted_once():
    lifted = []

    def counted(images, frame):
        lifted.append(len(images))
        return kl.image(images, frame)

    ranks(replace(kl, image=counted), draw(3, 4), draw(30, 4), torch.arange(30) % 3, block=5)
    top_k(replace(kl, image=counted), draw(2, 4), draw(30, 4), 3, block=5)
    assert lifted == [3, 2]


def test_ranks_are_counted_exactly_whatever_precision_is_around():
    make = torch.Generator().manual_seed(0)
    images = torch.randn(60, 8, generator=make)
    captions = torch.randn(1200, 8, generator=make)
    owner = torch.arange(1200) // 20
    plain = ranks(cosine, images, captions, owner)
    with torch.autocast("cpu", torch.bfloat16):
        around = ranks(cosine, images, captions, owner)
    assert all(torch.equal(a, b) for a, b in zip(plain, around, strict=True))

    def rough(x, y):
        return cosine(x, y).bfloat16()

    def again(x, y):
        return cosine(x, y).bfloat16().float()

    exact = ranks(again, images, captions, owner)
    assert torch.equal(ranks(rough, images, captions, owner)[0], exact[0])
