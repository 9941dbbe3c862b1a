"""Recalls against a naive loop on random embeddings, in one piece and in folds."""

import numpy as np
import pytest
import torch

from polymodal.maths.similarity import cosine
from polymodal.metrics.recall import CUTS, chance, retrieval, retrieval_in_folds


def naive(images, captions, owner):
    """Recalls by sorting each query's scores, wrong answers before right ones among equals."""
    scores = cosine(images, captions).numpy()
    ways = {"i2t": [], "t2i": []}
    for i in range(len(images)):
        right = owner.numpy() == i
        order = sorted(range(len(captions)), key=lambda j: (-round(scores[i, j], 9), right[j]))
        ways["i2t"].append(next(place for place, j in enumerate(order) if right[j]))
    for j in range(len(captions)):
        order = sorted(
            range(len(images)), key=lambda i: (-round(scores[i, j], 9), i == owner[j].item())
        )
        ways["t2i"].append(order.index(owner[j].item()))
    found = {}
    for way, ranks in ways.items():
        for k in CUTS:
            found[f"{way}_r{k}"] = 100 * float(np.mean([rank < k for rank in ranks]))
        found[f"{way}_median"] = float(np.floor(np.median(ranks))) + 1
        found[f"{way}_mean"] = float(np.mean(ranks)) + 1
    return found


@pytest.mark.parametrize("tied", [False, True])
def test_recalls_equal_a_naive_loop(tied):
    torch.manual_seed(0)
    images = torch.randn(40, 12, dtype=torch.double)
    captions = images.repeat_interleave(3, 0) + torch.randn(120, 12, dtype=torch.double)
    if tied:
        images, captions = (torch.sign(x[:, :3]) for x in (images, captions))
    owner = torch.arange(40).repeat_interleave(3)
    found = retrieval(cosine, images, captions, owner)
    for name, value in naive(images, captions, owner).items():
        assert found[name] == pytest.approx(value), name
    assert found["rsum"] == pytest.approx(
        sum(found[f"{w}_r{k}"] for w in ("i2t", "t2i") for k in CUTS)
    )


def test_folds_are_the_mean_of_their_parts():
    torch.manual_seed(1)
    images, captions = torch.randn(30, 8), torch.randn(60, 8)
    owner = torch.arange(30).repeat_interleave(2)
    found = retrieval_in_folds(cosine, images, captions, owner, fold=10)
    parts = [
        retrieval(cosine, images[a : a + 10], captions[2 * a : 2 * a + 20], owner[:20])
        for a in (0, 10, 20)
    ]
    for name in found:
        assert found[name] == pytest.approx(sum(p[name] for p in parts) / 3)


def test_a_short_last_fold_is_left_out():
    images = torch.eye(25)
    found = retrieval_in_folds(cosine, images, images, torch.arange(25), fold=10)
    assert found["t2i_r1"] == 100
    assert retrieval_in_folds(cosine, images[:5], images[:5], torch.arange(5), fold=10) == {}


def test_chance_is_what_random_scores_reach():
    torch.manual_seed(2)
    images, captions = 40, 3
    owner = torch.arange(images).repeat_interleave(captions)
    found = []
    for _ in range(600):
        table = torch.rand(images, images * captions)
        places = torch.arange(images), torch.arange(images * captions)
        found.append(retrieval(lambda a, b, table=table: table[a][:, b], *places, owner))
    for name, value in chance(images, captions).items():
        mean = np.mean([scores[name] for scores in found])
        assert mean == pytest.approx(value, rel=0.12), name  # three standard errors of the rarest


def test_chance_among_few():
    assert chance(4, 1)["t2i_r10"] == chance(4, 1)["i2t_r10"] == 100
