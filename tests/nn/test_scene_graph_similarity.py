"""Similarities of scene graphs and pictures against the equations, one number at a time, in float64."""

import math

import pytest
import torch

from polymodal.nn.scene_graph_similarity import (
    PictureFeatures,
    attention,
    global_similarity,
    local_similarity,
)
from polymodal.nn.scene_graphs import GraphFeatures

G1, G2 = 4.0, 3.0


def features(m: int = 4, n: int = 5) -> tuple[PictureFeatures, GraphFeatures]:
    chance = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=chance, dtype=torch.float64)

    there = torch.rand(n, 3, generator=chance) < 0.6
    there[:, 0] = True
    return PictureFeatures(normal(m, 6, 2), normal(m, 2)), GraphFeatures(
        normal(n, 3, 2), normal(n, 2), there
    )


def dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def cosine(a: list[float], b: list[float]) -> float:
    return dot(a, b) / math.sqrt(dot(a, a) * dot(b, b))


def similarity_of(places: list[list[float]], objects: list[list[float]]) -> float:
    """Eq. 6.3.1 and 6.3.2 of one picture and one graph, as they stand in the text."""
    total = 0.0
    for g in objects:
        below = sum(math.exp(dot(g, v)) for v in places)
        s = [G1 * math.exp(dot(g, v)) / below for v in places]
        weights = [math.exp(value) for value in s]
        attended = [
            sum(w * v[k] for w, v in zip(weights, places, strict=True)) / sum(weights)
            for k in range(len(g))
        ]
        total += math.exp(G2 * cosine(attended, g))
    return math.log(total ** (1 / G2))


def test_local_similarities_are_the_equations():
    pictures, graphs = features()
    found = local_similarity(pictures, graphs, G1, G2)
    for m in range(4):
        for n in range(5):
            objects = graphs.each[n][graphs.there[n]].tolist()
            expected = similarity_of(pictures.each[m].tolist(), objects)
            assert found[m, n].item() == pytest.approx(expected, rel=1e-10)


def test_global_similarities_are_cosines():
    pictures, graphs = features()
    found = global_similarity(pictures, graphs)
    for m in range(4):
        for n in range(5):
            expected = cosine(pictures.whole[m].tolist(), graphs.whole[n].tolist())
            assert found[m, n].item() == pytest.approx(expected, rel=1e-10)


def test_blocks_of_graphs_are_all_graphs(monkeypatch):
    pictures, graphs = features(n=7)
    whole = local_similarity(pictures, graphs, G1, G2)
    monkeypatch.setattr("polymodal.nn.scene_graph_similarity.BLOCK", 2)
    torch.testing.assert_close(local_similarity(pictures, graphs, G1, G2), whole)


def test_objects_that_are_not_there_count_nothing():
    pictures, graphs = features()
    changed = GraphFeatures(
        torch.where(graphs.there[..., None], graphs.each, 99.0), graphs.whole, graphs.there
    )
    assert torch.equal(
        local_similarity(pictures, changed, G1, G2), local_similarity(pictures, graphs, G1, G2)
    )


def test_attention_is_a_softmax_of_a_softmax():
    weights = attention(torch.tensor([[0.0, math.log(3)]], dtype=torch.float64), 2.0)
    first = [0.25, 0.75]
    total = sum(math.exp(2 * share) for share in first)
    expected = [[math.exp(2 * share) / total for share in first]]
    torch.testing.assert_close(weights, torch.tensor(expected, dtype=torch.float64))


def test_gradients_are_those_of_finite_differences():
    pictures, graphs = features(2, 2)

    def found(each, whole, objects, graph):
        one = PictureFeatures(each, whole)
        other = GraphFeatures(objects, graph, graphs.there)
        return local_similarity(one, other, G1, G2) + global_similarity(one, other)

    values = (pictures.each, pictures.whole, graphs.each, graphs.whole)
    assert torch.autograd.gradcheck(found, tuple(v.clone().requires_grad_() for v in values))


def test_features_of_zero_give_numbers():
    pictures, graphs = features()
    none = PictureFeatures(torch.zeros_like(pictures.each), torch.zeros_like(pictures.whole))
    none.each.requires_grad_()
    found = local_similarity(none, graphs, G1, G2)
    found.sum().backward()
    assert found.isfinite().all()
    assert none.each.grad.isfinite().all()
    assert global_similarity(none, graphs).isfinite().all()
