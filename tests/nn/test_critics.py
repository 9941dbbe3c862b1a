"""Critics against pairs one by one; their memory; and each learns what correlated Gaussians share."""

import math
from functools import partial

import pytest
import torch
from memory import Largest, Peak
from torch import nn

from polymodal.base.errors import PolymodalError
from polymodal.maths.information import BOUNDS, jensen_shannon
from polymodal.nn.critics import (
    ConcatAndConvolve,
    Dot,
    EncodeAndCosine,
    EncodeAndDot,
    Encoded,
    NormedDot,
    critic_named,
)

NAMES = ["concat-and-convolve", "dot", "encode-and-dot", "encode-and-cosine", "normed-dot"]


def built(name, width=5, hidden=7):
    """A critic of features of one width, in double precision."""
    torch.manual_seed(0)
    settings = {} if name == "dot" else {"hidden": hidden}
    settings |= {"dim": width} if name == "normed-dot" else {}
    return critic_named(name)(summary=width, local=width, **settings).double()


def features(*shape, seed=1):
    return torch.randn(shape, dtype=torch.double, generator=torch.manual_seed(seed))


def normal(x):
    """Batch norm as it begins, from the batch's own moments."""
    return (x - x.mean(0)) / (x.var(0, correction=0) + 1e-5).sqrt()


def encoded(layers, x):
    """Two layers and a shortcut by hand."""
    first, last, shortcut = layers.layers[0][0], layers.layers[1], layers.shortcut
    beside = normal(x @ first.weight.T).relu() @ last.weight.T + last.bias
    return x @ shortcut.weight.T + beside


def normed(layers, x):
    """A hidden layer beside a linear map, each row then of mean 0 and variance 1, by hand."""
    first, _, last = layers.layers
    hidden = (x @ first.weight.T + first.bias).relu()
    x = x @ layers.linear.weight.T + hidden @ last.weight.T + last.bias
    return (x - x.mean(1, True)) / (x.var(1, correction=0, keepdim=True) + 1e-5).sqrt()


def naive(critic, summary, local):
    """Pair by pair and place by place, of what the critic is made of."""
    places = local.flatten(2).transpose(1, 2)
    if isinstance(critic, EncodeAndDot):
        summary = encoded(critic.summary, summary)
        rows = encoded(critic.local[0], places.flatten(0, 1))
        places = torch.nn.functional.layer_norm(rows, rows.shape[1:]).view(*places.shape[:2], -1)
    if isinstance(critic, NormedDot):
        summary = normed(critic.summary[0], summary) / summary.shape[1] ** 0.5
        rows = normed(critic.local[0], places.flatten(0, 1))
        places = rows.view(*places.shape[:2], -1)
    if isinstance(critic, EncodeAndCosine):
        summary = 10 * summary / summary.norm(dim=-1, keepdim=True)
        places = places / places.norm(dim=-1, keepdim=True)

    def score(g, at):
        if isinstance(critic, ConcatAndConvolve):
            return critic.rest(critic.first(torch.cat([g, at])))[0]
        return sum(a * b for a, b in zip(g, at, strict=True))

    return torch.stack(
        [torch.stack([torch.stack([score(g, at) for at in of]) for of in places]) for g in summary]
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_critic_equals_its_pairs_one_by_one(name):
    critic, summary, local = built(name), features(3, 5), features(4, 5, 2, 3, seed=2)
    scores = critic(summary, local)
    assert scores.shape == (3, 4, 6)
    torch.testing.assert_close(scores, naive(critic, summary, local), rtol=1e-10, atol=1e-10)


def test_scaled_scores_begin_about_1():
    torch.manual_seed(0)
    plain = EncodeAndDot(summary=64, local=64, hidden=400).double()
    scaled = EncodeAndDot(summary=64, local=64, hidden=400, scaled=True).double()
    scaled.load_state_dict(plain.state_dict())
    summary, local = features(50, 64), features(50, 64, seed=2)
    torch.testing.assert_close(20 * scaled(summary, local), plain(summary, local))
    assert 0.2 < scaled(summary, local).std() < 2


@pytest.mark.parametrize("name", NAMES)
def test_local_features_need_no_places(name):
    critic, summary, local = built(name), features(3, 5), features(4, 5, seed=2)
    scores = critic(summary, local)
    assert scores.shape == (3, 4)
    torch.testing.assert_close(scores, critic(summary, local[..., None, None])[..., 0])
    torch.testing.assert_close(scores, critic(summary, local[..., None])[..., 0])


@pytest.mark.parametrize("name", NAMES)
def test_in_evaluation_pairs_are_scored_alone(name):
    critic, summary, local = built(name).eval(), features(3, 5), features(4, 5, 2, 3, seed=2)
    with torch.no_grad():
        alone, scores = critic(summary[1:2], local[2:3]), critic(summary, local)
    torch.testing.assert_close(alone, scores[1:2, 2:3])
    assert critic(summary, local[:0]).shape == (3, 0, 6)
    assert critic(summary[:0], local).shape == (0, 4, 6)


@pytest.mark.parametrize("name", NAMES)
def test_gradients(name):
    critic = built(name)
    leaves = [features(3, 5).requires_grad_(), features(3, 5, 2, 1, seed=2).requires_grad_()]
    assert torch.autograd.gradcheck(critic, leaves)
    weights = {name: p for name, p in critic.named_parameters() if p.ndim == 2}

    def of_weights(*values):
        given = dict(zip(weights, values, strict=True))
        return torch.func.functional_call(critic, given, tuple(leaf.detach() for leaf in leaves))

    assert not weights or torch.autograd.gradcheck(of_weights, list(weights.values()))


@pytest.mark.parametrize("name", NAMES)
def test_autocast_scores_and_learns_nearly_the_same(name):
    critic = built(name, width=32, hidden=64).float()
    leaves = [features(6, 32).float(), features(6, 32, 2, 2, seed=2).float()]
    found = []
    for enabled in (False, True):
        summary, local = (leaf.clone().requires_grad_() for leaf in leaves)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
            scores = critic(summary, local)
        rounded = enabled and name == "concat-and-convolve"  # others multiply in float32
        assert scores.dtype == (torch.bfloat16 if rounded else torch.float32)
        scores.float().tanh().sum().backward()
        found.append([scores.detach().float(), summary.grad, local.grad])
    for exact, rounded in zip(*found, strict=True):
        assert (rounded - exact).norm() < 0.1 * exact.norm()


@pytest.mark.parametrize(("name", "widest"), [("dot", 16), ("encode-and-dot", 24)])
def test_products_pair_no_features(name, widest):
    b, places = 24, 9
    critic = built(name, width=16, hidden=24)
    leaves = [features(b, 16).requires_grad_(), features(b, 16, 3, 3, seed=2).requires_grad_()]
    with Largest() as largest:
        critic(*leaves).square().sum().backward()
    assert 0 < largest.numbers <= max(b * b * places, b * places * widest)
    assert largest.numbers < b * b * places * 16


def pairs_of(critic, summary, local):
    """Scores and gradients, and the most that was made of them at a time."""
    leaves = [summary.clone().requires_grad_(), local.clone().requires_grad_()]
    with Largest() as largest, Peak() as peak:
        scores = critic(*leaves)
        critic.zero_grad()
        scores.square().sum().backward()
    gradients = [leaf.grad for leaf in leaves] + [p.grad.clone() for p in critic.parameters()]
    return [scores.detach(), *gradients], largest.numbers, peak.bytes


@pytest.mark.parametrize("pairs", [1, 7, 50, 100, 999, 10_000])
def test_blocks_of_concat_and_convolve_agree_with_the_whole(pairs):
    critic = built("concat-and-convolve")
    sides = features(8, 5), features(6, 5, 3, 3, seed=2)
    whole, _, _ = pairs_of(critic, *sides)
    critic.bytes = pairs * 7 * 8
    blocks, _, _ = pairs_of(critic, *sides)
    torch.testing.assert_close(blocks, whole)


@pytest.mark.parametrize("pairs", [100, 400])
def test_blocks_of_concat_and_convolve_bound_its_memory_either_way(pairs):
    hidden, b, places = 64, 20, 9
    critic = built("concat-and-convolve", hidden=hidden)
    sides = features(b, 5), features(b, 5, 3, 3, seed=2)
    _, numbers, peak = pairs_of(critic, *sides)
    assert numbers == b * b * places * hidden
    critic.bytes = pairs * hidden * 8
    _, block_numbers, block_peak = pairs_of(critic, *sides)
    assert block_numbers <= max(pairs * hidden, b * places * hidden)
    assert block_peak < peak / 5


def test_a_shortcut_begins_as_a_noisy_copy():
    for inputs, outputs in ((4, 7), (7, 4)):
        shortcut = Encoded(inputs, outputs).shortcut
        x = torch.randn(5, inputs)
        same = min(inputs, outputs)
        torch.testing.assert_close(shortcut(x)[:, :same], x[:, :same], rtol=0, atol=0.2)
        assert (shortcut.weight - torch.eye(outputs, inputs)).abs().max() <= 0.01


D, CORRELATION = 4, 0.8
SHARED = -0.5 * D * math.log(1 - CORRELATION**2)
"""What each draw of x and y below shares: 2.04 nats."""


class Towers(nn.Module):
    """A network on either side of the dot critic, which itself has nothing to learn."""

    def __init__(self):
        super().__init__()
        self.x, self.y = (
            nn.Sequential(nn.Linear(D, 64), nn.ReLU(), nn.Linear(64, 32)) for _ in range(2)
        )
        self.critic = Dot(summary=32, local=32)

    def forward(self, x, y):
        return self.critic(self.x(x), self.y(y))


SIZES = {"summary": D, "local": D, "hidden": 64}
CASES = {
    "concat-and-convolve": (partial(ConcatAndConvolve, **SIZES), 64, 250, 0.01),
    "dot": (Towers, 128, 600, 0.005),
    "encode-and-dot": (partial(EncodeAndDot, **SIZES), 128, 1000, 0.01),
    "encode-and-cosine": (partial(EncodeAndCosine, **SIZES, temperature=0.02), 128, 1000, 0.01),
    "normed-dot": (partial(NormedDot, **SIZES, dim=64), 128, 1000, 0.01),
}
"""How each is made and trained: batch, steps and the highest learning rate."""


def correlated(n, generator):
    """Standard normal x and y, each dimension of one correlated with the other's."""
    x, noise = torch.randn(2, n, D, generator=generator)
    return x, CORRELATION * x + math.sqrt(1 - CORRELATION**2) * noise


def trained(name, bound, generator):
    """A critic brought to the most that its bound allows."""
    make, batch, steps, rate = CASES[name]
    critic = make()
    optimizer = torch.optim.Adam(critic.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, steps)
    for _ in range(steps):
        loss = -bound(critic(*correlated(batch, generator)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return critic.eval()


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("name", NAMES)
def test_each_critic_learns_what_gaussians_share_by_each_bound(name, bound):
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    critic = trained(name, BOUNDS[bound], generator)
    x, y = correlated(1024, generator)
    with torch.no_grad():
        scores = critic(x, y)
    found = BOUNDS[bound](scores).item()
    if bound == "jensen-shannon":  # its best critic is the log-ratio itself, whose mean they share
        squares = x.square().sum(-1)[:, None] + y.square().sum(-1)
        away = CORRELATION**2 * squares - 2 * CORRELATION * x @ y.T
        best = jensen_shannon(SHARED - away / (2 * (1 - CORRELATION**2))).item()
        assert best - 0.06 < found < best + 0.01
        found = scores.diagonal().mean().item()
    assert found == pytest.approx(SHARED, abs=0.25)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Dot(summary=1024, local=256), "one width; found 1024 and 256.*encode-and-dot"),
        (lambda: built("dot")(features(3, 4), features(3, 5)), "of 5 and local ones of 5.*found 4"),
        (
            lambda: built("encode-and-dot")(features(3, 5), features(3, 6, 5)),
            "along the second axis; found 5 and 6.*Build it with summary=5, local=6",
        ),
        (
            lambda: built("concat-and-convolve")(features(3, 6), features(3, 5)),
            "global features of 5 and local ones of 5.*Build it with summary=6, local=5",
        ),
        (
            lambda: built("encode-and-dot")(features(1, 5), features(1, 5, 2, 2)),
            r"needs 2 rows or more; found 1 and 1\. Give a larger batch, or call eval\(\)",
        ),
        (lambda: critic_named("dott"), r"Unknown critic 'dott'\. Did you mean 'dot'\?"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(PolymodalError, match=message):
        call()
