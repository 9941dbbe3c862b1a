"""Word–region attention against the equations, word by word and region by region, in float64."""

import pytest
import torch

from polymodal.nn.word_region_attention import Regions, WordRegionAttention, across, within


def naive(net: WordRegionAttention, word, regions) -> tuple[torch.Tensor, torch.Tensor]:
    """φ and attention of one word to a list of regions, as eq. 6 and 7 are written."""
    q = net.query(word[None])[0]
    s = torch.stack([q @ net.key(r[None])[0] / net.dim**0.5 for r in regions])
    a = s.exp() / s.exp().sum()
    values = torch.stack([net.region_value(r[None])[0] for r in regions])
    seen = sum(weight * value for weight, value in zip(a, values, strict=True))
    return net.word_value(word[None])[0] @ seen, a


@pytest.fixture
def net() -> WordRegionAttention:
    torch.manual_seed(0)
    net = WordRegionAttention(words=5, regions=7, dim=6, hidden=1).double()
    for layer in net.modules():  # moments that do something
        if isinstance(layer, torch.nn.BatchNorm1d):
            layer.running_mean.normal_()
            layer.running_var.uniform_(0.5, 2)
    return net.eval()


@pytest.mark.parametrize("kind", ["across", "within"])
def test_scores_are_those_of_the_equations(net: WordRegionAttention, kind: str) -> None:
    states, features = torch.randn(3, 2, 5).double(), torch.randn(3, 4, 7).double()
    there = torch.tensor([[1, 1, 1, 1], [1, 0, 1, 0], [0, 0, 0, 1]]).bool()
    features[~there] = 1e6  # padding must not count
    regions = net.regions(features, there)
    words = net.words(states.flatten(0, 1))
    for b in range(3):
        for k in range(2):
            own = type(words)(words.query.unflatten(0, (3, 2)), words.value.unflatten(0, (3, 2)))
            scores, logits = across(words, regions) if kind == "across" else within(own, regions)
            score, attention = naive(net, states[b, k], features[b][there[b]])
            at = (2 * b + k, b) if kind == "across" else (b, k)
            torch.testing.assert_close(scores[at].double(), score, rtol=1e-5, atol=1e-5)
            found = logits[at].softmax(-1)
            torch.testing.assert_close(found[there[b]].double(), attention, rtol=1e-5, atol=1e-6)
            assert (found[~there[b]] == 0).all()


def test_padding_leaves_batch_norms_alone() -> None:
    """In training, rows that are no regions move neither the statistics nor what comes out."""
    torch.manual_seed(0)
    net = WordRegionAttention(words=5, regions=7, dim=6, hidden=2)
    features = torch.randn(2, 3, 7)
    there = torch.ones(2, 3).bool()
    alone = net.regions(features, there)
    padded = net.regions(
        torch.cat([features, torch.full((2, 2, 7), 1e6)], 1),
        torch.cat([there, torch.zeros(2, 2).bool()], 1),
    )
    torch.testing.assert_close(padded.key[:, :3], alone.key)
    torch.testing.assert_close(padded.value[:, :3], alone.value)
    assert not padded.key[:, 3:].any()


def test_gradients_reach_all_four_networks() -> None:
    net = WordRegionAttention(words=5, regions=7, dim=6, hidden=0)
    regions = net.regions(torch.randn(2, 3, 7), torch.ones(2, 3).bool())
    assert isinstance(regions, Regions)
    scores, _ = across(net.words(torch.randn(4, 5)), regions)
    scores.sum().backward()
    assert all(p.grad is not None and p.grad.any() for p in net.parameters() if p.dim() > 1)
