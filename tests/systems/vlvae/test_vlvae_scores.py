"""The bounds of a VLVAE against integrals over a grid: two latent dimensions, all densities unlike."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from torch import Tensor

from polymodal.data.folder import open_folder
from polymodal.data.image_texts import ImageTextBatch
from polymodal.maths.likelihoods import Gaussian
from polymodal.metrics.bounds import importance_bound, lower_bound
from polymodal.systems.vlvae.densities import text_bound
from polymodal.systems.vlvae.vlvae_module import VLVAE
from polymodal.systems.vlvae.vlvae_scores import scores_of
from vlvaes import stirred, tiny

SIDE, STEP = 6.0, 0.15


@pytest.fixture(scope="module")
def val(squares):
    return open_folder(squares, size=16, progress=False)["val"]


@pytest.fixture(scope="module")
def system(val) -> VLVAE:
    """A model of which pictures say as much of z as texts do, not thousands of times as much."""
    found = tiny(val, latent=2, width=2, flow_hidden=8)
    found.model.picture.likelihood = Gaussian(std=0.5)
    model, densities = found.model, found.densities
    for part in (model.text_decoder, model.shared_decoder):
        stirred(part, 0.25)
    for part in (model.shared_encoder, densities, densities.prior):  # the last one twice
        stirred(part, 0.15)
    return found.eval()


@pytest.fixture(scope="module")
def batch(system, val) -> ImageTextBatch:
    """Three images, with one text each."""
    found = system.examples(val).batch(np.array([0, 5, 10]))
    return ImageTextBatch(found.images, found.texts[:, :1])


@dataclasses.dataclass
class Grid:
    """Log-densities at the points of a grid: rows are images or texts, columns points."""

    log_px: Tensor
    log_py: Tensor
    posterior: Tensor
    normal: Tensor
    prior: Tensor
    aggregate: Tensor
    true: Tensor

    def integral(self, log_density: Tensor) -> Tensor:
        """The logarithm of an integral, row by row."""
        return log_density.logsumexp(-1) + 2 * math.log(STEP)

    def mean(self, log_q: Tensor, values: Tensor) -> float:
        """E_q[values] in the mean over rows."""
        return (log_q.softmax(-1) * values).sum(-1).mean().item()


@pytest.fixture(scope="module")
def grid(system, batch) -> Grid:
    line = torch.arange(-SIDE, SIDE + STEP / 2, STEP)
    z = torch.cartesian_prod(line, line)
    n, texts, model, densities = len(z), batch.texts[:, 0], system.model, system.densities
    with torch.no_grad():
        code, seen = model.code(z), model.posterior(batch.images, texts)
        normal = torch.distributions.Normal(0.0, 1.0).log_prob(z.double()).sum(-1)
        q = torch.distributions.Normal(seen.mean.double()[:, None], seen.std.double()[:, None])
        rows = [text.expand(n, -1) for text in texts]
        found = Grid(
            log_px=torch.stack([model.log_px(code, x.expand(n, -1, -1, -1)) for x in batch.images]),
            log_py=torch.stack([model.log_py(code, text) for text in rows]),
            posterior=q.log_prob(z.double()).sum(-1),
            normal=normal.expand(len(texts), -1),
            prior=densities.prior().log_prob(z).expand(len(texts), -1),
            aggregate=torch.stack([densities.aggregate(text, z) for text in rows]),
            true=torch.stack([densities.true(text, z) for text in rows]),
        )
    return Grid(**{name: value.double() for name, value in vars(found).items()})


def test_the_grid_holds_every_density(grid):
    """And no two of those that a bound could be taken by are alike."""
    densities = [grid.posterior, grid.normal, grid.prior, grid.aggregate, grid.true]
    for log_q in densities:
        torch.testing.assert_close(
            grid.integral(log_q), torch.zeros(3, dtype=torch.double), rtol=0, atol=0.01
        )
    for i, log_q in enumerate(densities):
        for other in densities[:i]:
            assert grid.mean(log_q, log_q - other) > 0.1
    for told in (grid.log_px, grid.log_py):
        assert told.softmax(-1).max() < 0.1  # smooth, as an even grid wants it
        assert grid.mean(grid.normal, (told - told.mean(-1, keepdim=True)).abs()) > 0.2


BOUNDS = {
    "log_pxy_normal": ("posterior", ("log_px", "log_py", "normal")),  # eq. 1
    "log_px_y_true": ("posterior", ("log_px", "true")),  # eq. 6
    "log_px_y_aggregate": ("posterior", ("log_px", "aggregate")),
    "log_px_normal": ("posterior", ("log_px", "normal")),  # §4.2
    "log_px_aggregate": ("posterior", ("log_px", "prior")),
    "log_py_true": ("true", ("log_py", "normal")),  # eq. 3
    "log_py_normal": ("aggregate", ("log_py", "normal")),  # §4.2
    "log_py_aggregate": ("aggregate", ("log_py", "prior")),
}
"""What z is drawn from, and what is multiplied: their integral is the likelihood that is bounded."""


@pytest.fixture(scope="module")
def scores(system, batch) -> dict[str, float]:
    """Of each image three hundred times, so that chance has little left to say."""
    often = ImageTextBatch(batch.images.repeat(300, 1, 1, 1), batch.texts.repeat(300, 1, 1))
    return scores_of(system, [often], samples=8)


@pytest.mark.parametrize("name", BOUNDS)
def test_every_bound_is_the_integral_that_it_stands_for(grid, scores, name):
    """E_q[log p − log q] on the grid, and the likelihood itself above it and the tighter bound."""
    drawn, factors = BOUNDS[name]
    log_q, joint = getattr(grid, drawn), sum(getattr(grid, factor) for factor in factors)
    bound, likelihood = grid.mean(log_q, joint - log_q), grid.integral(joint).mean().item()
    spread = scores[f"{name}_spread"]
    assert spread < 0.05
    assert scores[name] == pytest.approx(bound, abs=3 * spread + 0.01)
    assert bound < likelihood - 0.05
    assert scores[name] + 0.02 < scores[f"{name}_iw"] < likelihood + 0.02


def test_single_terms_are_means_under_the_posterior(grid, scores, system):
    kl = grid.mean(grid.posterior, grid.posterior - grid.normal)
    expected = {
        "reconstruction": grid.mean(grid.posterior, grid.log_px),
        "said": grid.mean(grid.posterior, grid.log_py),
        "kl": kl,
        "log_q": grid.mean(grid.posterior, grid.aggregate),
    }
    weights = system.config.image_weight, system.config.text_weight
    expected["bound"] = weights[0] * expected["reconstruction"] + weights[1] * expected["said"] - kl
    for name, value in expected.items():
        assert scores[name] == pytest.approx(value, abs=0.15), name


def test_q_true_comes_close_to_the_likelihood_of_the_text(system, batch, grid, val):
    """004, eq. 3: the gap closes as q(z|y) learns p(z|y), and all but a rest by weighing draws."""
    likelihood = grid.integral(grid.log_py + grid.normal).mean().item()
    model = system.model.requires_grad_(False)
    learner = tiny(val, latent=2, flow_hidden=32).densities.true
    adam, texts, gaps = torch.optim.Adam(learner.parameters(), 1e-2), batch.texts[:, 0], []
    slower = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.05, 150)
    for _ in range(150):
        adam.zero_grad()
        bound = text_bound(model, learner, texts.repeat(40, 1)).mean()
        (-bound).backward()
        adam.step()
        slower.step()
        gaps.append(likelihood - bound.item())
    assert gaps[0] > 0.3
    with torch.no_grad():
        weights = text_bound(model, learner, texts.repeat(1000, 1)).reshape(1000, 3)
    assert -0.02 < likelihood - lower_bound(weights).value < 0.1
    assert abs(likelihood - importance_bound(weights).value) < 0.02


def test_the_same_data_have_the_same_scores_whatever_was_drawn_before(system, val):
    found = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        state = torch.get_rng_state()
        found.append((system.validate(val), system.evaluate(val)))
        assert torch.equal(torch.get_rng_state(), state)
    assert found[0] == found[1]


def test_what_an_evaluation_says(system, val, monkeypatch):
    validated, evaluated = system.validate(val), system.evaluate(val)
    single = {"bound", "reconstruction", "said", "kl", "log_q"}
    each = set(BOUNDS) | {f"{name}_error" for name in BOUNDS}
    assert validated.keys() == (single | each) - {"log_q"}  # as there was no stage two
    more = {f"{name}_{end}" for name in BOUNDS for end in ("spread", "iw", "iw_error", "iw_spread")}
    parts = {f"{n}{end}" for n in ("posterior_to_aggregate", "aggregate_to_prior")
             for end in ("", "_error")}  # fmt: skip
    assert evaluated.keys() == single | each | more | parts
    together = evaluated["posterior_to_aggregate"] + evaluated["aggregate_to_prior"]
    assert together == pytest.approx(evaluated["kl"], abs=0.5)  # eq. 17, by other draws
    monkeypatch.setattr(system, "frozen", True)
    assert "log_q" in system.validate(val)


def test_blocks_leave_no_image_out(system, val):
    whole = [len(part) for part in system.batches(val, 1000, block=5)]
    assert whole == [5, 5, 5, 1]
    assert [len(part) for part in system.batches(val, 7, block=5)] == [5, 2]
    images = torch.cat([part.images for part in system.batches(val, 1000, block=5)])
    assert torch.equal(images.permute(0, 2, 3, 1), torch.from_numpy(val.images(range(16))))
