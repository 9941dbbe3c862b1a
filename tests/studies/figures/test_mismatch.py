"""Densities on the grid against loops, torch.distributions and closed forms."""

import itertools
import math
from collections import Counter

import pytest
import torch
from torch.distributions import MultivariateNormal, Normal

from polymodal.base.errors import PolymodalError
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.metrics.aggregate import normalised
from polymodal.studies.figures import mismatch
from polymodal.studies.figures.mismatch import (
    Mismatch,
    Mismatches,
    axis_for,
    check_mass,
    held,
    mismatches,
    text_posteriors,
)

TEXTS = ["small red", "small blue", "large red", "large blue"]


@pytest.fixture(scope="module")
def found(one, flat):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mismatch, "FEWEST", 61)
        return mismatches(flat, one["val"])


def test_over_all_texts_the_posteriors_sum_to_the_prior(flat, monkeypatch):
    """Σ_y p(y|z) p(z) = p(z), for every text that five words can make."""
    monkeypatch.setattr(mismatch, "BLOCK", 2)
    z = torch.tensor([[0.0, 0.0], [1.5, -0.7], [-3.0, 2.0]], dtype=torch.double)
    every = torch.tensor(list(itertools.product(range(len(flat.words)), repeat=2)))
    with torch.no_grad():
        total = text_posteriors(flat, every, z).logsumexp(0)
    prior = MultivariateNormal(torch.zeros(2).double(), torch.eye(2).double()).log_prob(z)
    torch.testing.assert_close(total, prior, rtol=0, atol=1e-5)


def test_the_grid_posterior_is_that_of_a_loop(flat, found):
    """p(y|z) word by word with the words before it, at points whose x is the column."""
    assert found.texts == TEXTS
    for k, (row, column) in itertools.product(range(4), [(3, 50), (30, 31), (44, 7)]):
        z = [found.axis[column].item(), found.axis[row].item()]
        text = flat.words.encode([TEXTS[k]])
        with torch.no_grad():
            code = flat.model.code(torch.tensor([z]))
            logits = flat.model.text_decoder(code, text)[0].double()
        said = sum(logits[t].log_softmax(0)[text[0, t]].item() for t in range(2))
        prior = sum(-0.5 * (v * v + math.log(2 * math.pi)) for v in z)
        assert found.of[k].posterior[row, column].item() == pytest.approx(said + prior, abs=1e-5)


def test_densities_on_the_grid_sum_to_one(found):
    cell = (found.axis[1] - found.axis[0]).item() ** 2
    for one in found.of:
        assert normalised(one.posterior).exp().sum().item() == pytest.approx(1)
        assert one.aggregate.exp().sum().item() * cell == pytest.approx(1, abs=1e-3)


def test_the_aggregate_is_that_of_a_loop(one, flat, found):
    images = torch.from_numpy(one["val"].images(range(24))).permute(0, 3, 1, 2)
    said = [one["val"].captions(i)[0].text for i in range(24)]
    assert min(Counter(said)[text] for text in TEXTS) > 1
    with torch.no_grad():
        posterior = flat.model.posterior(images, None)
    for text, (row, column) in itertools.product(TEXTS, [(20, 35), (33, 28)]):
        z = torch.stack([found.axis[column], found.axis[row]])
        each = [
            Normal(posterior.mean[i].double(), posterior.std[i].double()).log_prob(z).sum().exp()
            for i in range(24)
            if said[i] == text
        ]
        mixture = found.of[TEXTS.index(text)].aggregate[row, column].exp()
        assert mixture.item() == pytest.approx(torch.stack(each).mean().item(), rel=1e-4)


def gaussian(mean: tuple[float, float], std: float) -> torch.Tensor:
    axis = torch.linspace(-8, 8, 161, dtype=torch.double)
    across, up = torch.meshgrid(axis, axis, indexing="xy")
    return -0.5 * ((across - mean[0]) ** 2 + (up - mean[1]) ** 2) / std**2


def test_the_divergence_of_gaussians_is_the_closed_form():
    p, q = gaussian((1.0, -1.0), 0.5), gaussian((0.0, 0.5), 1.5)
    log_var = torch.full((2,), 2.0)
    expected = DiagonalGaussian(torch.tensor([1.0, -1.0]), log_var * math.log(0.5)).kl(
        DiagonalGaussian(torch.tensor([0.0, 0.5]), log_var * math.log(1.5))
    )
    assert Mismatch(text="", posterior=q, aggregate=p).kl == pytest.approx(expected.item())


def test_equal_densities_do_not_differ_and_disjoint_ones_are_all_holes():
    p, far = gaussian((0.0, 0.0), 1.0), gaussian((5.0, 5.0), 0.5)
    equal = Mismatch(text="a b", posterior=p, aggregate=p - 3)  # known up to a factor
    apart = Mismatch(text="c", posterior=p, aggregate=far)
    assert equal.kl == pytest.approx(0, abs=1e-12)
    assert equal.outside == pytest.approx(1, abs=0.1)  # what 99 % leave
    assert apart.outside == pytest.approx(100, abs=0.1)
    assert Mismatches(axis=torch.zeros(0), of=(equal, apart)).numbers == {
        "kl": pytest.approx(apart.kl / 2),
        "kl_a_b": equal.kl,
        "kl_c": apart.kl,
        "outside": pytest.approx((equal.outside + apart.outside) / 2),
        "outside_a_b": equal.outside,
        "outside_c": apart.outside,
    }


def test_a_level_set_holds_its_share():
    shares = torch.zeros(4, 4).double()
    shares[1:3, 1:3] = torch.tensor([[0.1, 0.4], [0.3, 0.2]])
    expected = torch.tensor([[1.0, 0.4], [0.7, 0.9]]).double()
    torch.testing.assert_close(held(shares.log())[1:3, 1:3], expected)
    assert (held(gaussian((0.0, 0.0), 1.0)) <= 0.5).sum() == pytest.approx(
        math.pi * 2 * math.log(2) / 0.1**2, rel=0.01
    )  # a circle of squared radius 2 ln 2


def test_other_latents_are_refused(one, vlvae):
    with pytest.raises(PolymodalError, match=r"has 3\. Train one with --latent 2\."):
        mismatches(vlvae(one["val"]), one["val"])


def test_no_image_at_all_is_refused(flat, empty):
    with pytest.raises(PolymodalError, match="The split is empty"):
        mismatches(flat, empty)


def test_too_many_texts_are_refused(two, vlvae):
    with pytest.raises(PolymodalError, match=r"different texts, too many to draw: 9 at most"):
        mismatches(vlvae(two["val"], latent=2), two["val"])


def test_the_grid_holds_every_posterior_and_is_finer_for_narrow_ones():
    wide = DiagonalGaussian(torch.zeros(2, 2), torch.zeros(2, 2))
    assert len(axis_for(wide)) == 401 and axis_for(wide)[-1] == 5
    narrow = DiagonalGaussian(torch.tensor([[6.0, 0.0]]), torch.full((1, 2), 2 * math.log(0.01)))
    axis = axis_for(narrow)
    assert axis[-1].item() == pytest.approx(6.05) and axis[0] == -axis[-1]
    assert (axis[1] - axis[0]).item() == pytest.approx(0.01, rel=0.01)
    slivers = DiagonalGaussian(torch.zeros(1, 2), torch.full((1, 2), -20.0))
    assert len(axis_for(slivers)) == 1601


def test_a_grid_that_posteriors_slip_through_is_refused():
    axis = torch.linspace(-5, 5, 11, dtype=torch.double)
    across, up = torch.meshgrid(axis, axis, indexing="xy")
    narrow = DiagonalGaussian(torch.full((1, 2), 0.5), torch.full((1, 2), -8.0))
    points = torch.stack([across, up], -1).flatten(0, 1)
    with pytest.raises(PolymodalError, match=r"of 0\.018 are too narrow .* 1 apart: .* to 0\.000"):
        check_mass([narrow[0].to(torch.double).log_prob(points)], axis, narrow)
