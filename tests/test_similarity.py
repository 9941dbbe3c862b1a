"""Ranks and top-k against naive loops, with ties, in blocks of any size."""

import pytest
import torch

from polymodal.similarity import cosine, ranks, top_k


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
