"""Score matrices against their definitions, torch.distributions and draws; gradients, digits, sizes."""

import math

import pytest
import torch
from brute import CASES, LIFTED, NAMES, both, brute, draw, of_kind, wide
from memory import Largest
from torch.distributions import Independent, Normal, kl_divergence

from polymodal.maths.diagonal_gaussian import HIGH, LOW, DiagonalGaussian
from polymodal.maths.similarity import bhattacharyya, csd, hold, kl, measure
from polymodal.maths.similarity.pairwise import Bhattacharyya


def rebuilt(name, pair, tensors):
    """Images and captions again from the tensors they are made of."""
    tensors = list(tensors)
    sides = []
    for kind in pair:
        mean = tensors.pop(0)
        sides.append(DiagonalGaussian(mean, tensors.pop(0)) if kind == "Gaussian" else mean)
    return measure(name)(*sides)


def parts(embeddings):
    """The tensors of some embeddings."""
    return [embeddings] if isinstance(embeddings, torch.Tensor) else vars(embeddings).values()


def leaves(*sides):
    """Their tensors as leaves that want a gradient."""
    return [part.detach().clone().requires_grad_() for side in sides for part in parts(side)]


@pytest.mark.parametrize(("name", "pair"), CASES)
def test_scores_equal_the_definition(name, pair):
    torch.manual_seed(0)
    images, captions = both(name, 5, 7, 4, pair, shift=3.0)
    scores = measure(name)(images, captions)
    torch.testing.assert_close(scores, brute(name, images, captions), rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(wide(name, images, captions), scores, rtol=1e-10, atol=1e-10)


def test_kl_equals_torch_distributions():
    torch.manual_seed(1)
    images, captions = draw(5, 8), draw(7, 8)
    p = Independent(Normal(images.mean[:, None], images.std[:, None]), 1)
    q = Independent(Normal(captions.mean, captions.std), 1)
    torch.testing.assert_close(kl(images, captions), -kl_divergence(p, q))


def test_csd_is_the_expected_squared_distance_of_two_draws():
    torch.manual_seed(2)
    images, captions = draw(2, 6), draw(3, 6)
    x, y = images.sample(100_000)[:, :, None], captions.sample(100_000)[:, None]
    torch.testing.assert_close(
        csd(images, captions), -(x - y).square().sum(-1).mean(0), rtol=0.02, atol=0
    )


def test_bhattacharyya_is_the_overlap_of_the_densities():
    torch.manual_seed(3)
    x, y = draw(1, 1), draw(1, 1)
    grid = torch.linspace(-60, 60, 200_001, dtype=torch.double)
    p, q = (Normal(g.mean[0], g.std[0]).log_prob(grid).exp() for g in (x, y))
    overlap = torch.trapezoid((p * q).sqrt(), grid)
    torch.testing.assert_close(bhattacharyya(x, y)[0, 0], overlap.log())


@pytest.mark.parametrize(("name", "pair"), CASES)
def test_gradients_are_right(name, pair):
    torch.manual_seed(4)
    images, captions = both(name, 3, 4, 3, pair, shift=1.0)
    assert torch.autograd.gradcheck(
        lambda *tensors: rebuilt(name, pair, tensors), leaves(images, captions)
    )


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_finite_where_the_distance_is_zero(name):
    torch.manual_seed(5)
    mean, log_var = torch.randn(6, 8), torch.zeros(6, 8)
    pair = measure(name).kinds[0]
    tensors = leaves(*(of_kind(DiagonalGaussian(mean, log_var), kind) for kind in pair))
    rebuilt(name, pair, tensors).sum().backward()
    assert all(tensor.grad.isfinite().all() for tensor in tensors)


@pytest.mark.parametrize("shift", [0.0, 30.0])
@pytest.mark.parametrize("scale", [0.03, 1.0])
@pytest.mark.parametrize(("name", "pair"), [case for case in CASES if case[0] != "cosine"])
def test_float32_keeps_four_digits_at_1024_dimensions(name, pair, scale, shift):
    torch.manual_seed(6)
    for low, high in ((LOW, HIGH), (LOW, LOW), (HIGH, HIGH), (0.99, 1.01)):
        sides = []
        for n, kind in zip((12, 15), pair, strict=True):
            log_var = math.log(low) + math.log(high / low) * torch.rand(n, 1024)
            mean = shift + scale * torch.randn(n, 1024)
            sides.append(of_kind(DiagonalGaussian(mean, log_var), kind))
        expected = wide(name, *sides)
        torch.testing.assert_close(measure(name)(*sides).double(), expected, rtol=1e-4, atol=0)


def test_float32_cosine_keeps_its_digits():
    torch.manual_seed(7)
    images, captions = torch.randn(12, 1024), torch.randn(15, 1024)
    expected = wide("cosine", images, captions)
    torch.testing.assert_close(
        measure("cosine")(images, captions).double(), expected, rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("name", NAMES)
def test_half_precision_and_autocast_are_scored_in_float32(name):
    torch.manual_seed(8)
    images, captions = both(name, 4, 5, 64, dtype=torch.float32)
    halves = [side.to(torch.bfloat16) for side in (images, captions)]
    expected = measure(name)(*(side.to(torch.float32) for side in halves))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = measure(name)(*halves)
    assert scores.dtype == torch.float32
    torch.testing.assert_close(scores, expected)


@pytest.mark.parametrize(("name", "pair"), [case for case in CASES if case[0] in LIFTED])
def test_nothing_larger_than_scores_or_lifts_is_made_either_way(name, pair):
    m, n, d = 40, 48, 32
    tensors = leaves(*both(name, m, n, d, pair))
    with Largest() as largest:
        rebuilt(name, pair, tensors).sum().backward()
    assert 0 < largest.numbers <= max(m * n, n * 2 * d)


def test_blocks_of_bhattacharyya_bound_its_memory_either_way():
    m, n, d = 40, 48, 32
    tensors = leaves(draw(m, d), draw(n, d))
    small = Bhattacharyya(bytes=100 * d * 8)
    with Largest() as largest:
        small(DiagonalGaussian(*tensors[:2]), DiagonalGaussian(*tensors[2:])).sum().backward()
    assert 0 < largest.numbers <= max(100 * d, m * n)


@pytest.mark.parametrize("pairs", [1, 7, 50, 10_000])
def test_blocks_of_bhattacharyya_agree_with_the_whole(pairs):
    torch.manual_seed(9)
    images, captions = draw(9, 5), draw(11, 5)
    blocks = Bhattacharyya(bytes=pairs * 5 * 8)
    torch.testing.assert_close(blocks(images, captions), wide("bhattacharyya", images, captions))
    grads = []
    for whole in (blocks, bhattacharyya):
        tensors = leaves(images, captions)
        scores = whole(DiagonalGaussian(*tensors[:2]), DiagonalGaussian(*tensors[2:]))
        scores.square().sum().backward()
        grads.append([tensor.grad for tensor in tensors])
    torch.testing.assert_close(*grads)


@pytest.mark.parametrize("name", NAMES)
def test_no_images_or_no_captions_give_no_scores(name):
    images, captions = both(name, 3, 4, 5)
    assert measure(name)(images[:0], captions).shape == (0, 4)
    assert measure(name)(images, captions[:0]).shape == (3, 0)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("name", NAMES)
def test_one_bad_image_spoils_no_other(name, bad):
    torch.manual_seed(10)
    images, captions = both(name, 3, 4, 5)
    expected = measure(name)(images, captions)
    next(iter(parts(images)))[1] = bad
    scores = measure(name)(images, captions)
    torch.testing.assert_close(scores[[0, 2]], expected[[0, 2]])


@pytest.mark.parametrize("name", LIFTED)
def test_images_held_give_the_same_scores_and_pairs(name):
    torch.manual_seed(11)
    images, captions = both(name, 5, 7, 6)
    held, scores = hold(measure(name), images), measure(name)(images, captions)
    torch.testing.assert_close(held(captions[2:4]), scores[:, 2:4])
    rows = torch.tensor([0, 4, 2, 2, 1, 3, 0])
    torch.testing.assert_close(held.pairs(rows, captions), scores[rows, torch.arange(7)])
