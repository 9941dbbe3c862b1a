"""R-precision and mAP@R against naive loops, whole, by blocks and as functions."""

import numpy as np
import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.maths.similarity import cosine, turned
from polymodal.metrics.precision import belonging, precision


def naive(scores, relevant):
    """Both, by sorting: wrong answers before right ones among equals."""
    r_precisions, averages = [], []
    for row, right in zip(scores.tolist(), relevant.tolist(), strict=True):
        R = sum(right)
        if R:
            order = sorted(range(len(row)), key=lambda j: (-round(row[j], 9), right[j]))[:R]
            hits = [right[j] for j in order]
            r_precisions.append(sum(hits) / R)
            averages.append(sum(hits[i] * sum(hits[: i + 1]) / (i + 1) for i in range(R)) / R)
    return {"r_precision": 100 * np.mean(r_precisions), "map_at_r": 100 * np.mean(averages)}


def pairs(tied):
    torch.manual_seed(0)
    images = torch.randn(25, 8, dtype=torch.double)
    captions = images.repeat_interleave(3, 0) + torch.randn(75, 8, dtype=torch.double)
    if tied:
        images, captions = (torch.sign(x[:, :3]) for x in (images, captions))
    relevant = (cosine(images, captions) > 0.4) ^ (torch.rand(25, 75) < 0.1)
    relevant[4] = False  # a query with no right answer
    relevant[5] = True
    return images, captions, relevant


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("block", [None, 1, 4, 100])
def test_both_equal_a_naive_loop(tied, block):
    images, captions, relevant = pairs(tied)
    expected = naive(cosine(images, captions), relevant)
    assert precision(cosine, images, captions, relevant, block) == pytest.approx(expected)
    rows = precision(cosine, images, captions, lambda part: relevant[part], block)
    assert rows == pytest.approx(expected)


def test_text_to_image_is_the_transposed_task():
    images, captions, relevant = pairs(tied=False)
    found = precision(turned(cosine), captions, images, relevant.T)
    assert found == pytest.approx(naive(cosine(images, captions).T, relevant.T))
    assert found == pytest.approx(
        precision(lambda a, b: cosine(b, a).T, captions, images, relevant.T)
    )


def test_owners_make_relevance():
    images, captions, _ = pairs(tied=False)
    mine, owner = torch.arange(25), torch.arange(25).repeat_interleave(3)
    found = precision(cosine, images, captions, belonging(mine, owner), block=4)
    assert found == pytest.approx(naive(cosine(images, captions), mine[:, None] == owner))


def test_one_right_answer_makes_both_recall_at_1():
    images, captions, _ = pairs(tied=False)
    one = torch.eye(25, dtype=torch.bool)
    found = precision(cosine, images, captions[::3], one)
    first = cosine(images, captions[::3]).argmax(1) == torch.arange(25)
    assert found["r_precision"] == found["map_at_r"] == pytest.approx(100 * first.double().mean())


@pytest.mark.parametrize("score", [0.0, torch.nan])
def test_equal_scores_and_nans_are_no_success(score):
    relevant = torch.zeros(3, 10, dtype=torch.bool)
    relevant[:, :4] = True
    found = precision(lambda a, b: torch.full((len(a), len(b)), score),
                      torch.zeros(3, 2), torch.zeros(10, 2), relevant)  # fmt: skip
    assert found == {"r_precision": 0.0, "map_at_r": 0.0}


def test_messages():
    images, captions, relevant = pairs(tied=False)
    with pytest.raises(PolymodalError, match="None of the 25 queries has a right answer"):
        precision(cosine, images, captions, torch.zeros_like(relevant))
    with pytest.raises(
        PolymodalError, match=r"queries 0 to 9 must be booleans of shape \(10, 75\)"
    ):
        precision(cosine, images, captions, relevant[:, :9], block=10)
    with pytest.raises(PolymodalError, match=r"found torch.int64"):
        precision(cosine, images, captions, relevant.long())
