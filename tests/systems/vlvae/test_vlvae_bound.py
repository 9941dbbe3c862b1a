"""What a VLVAE minimises, against torch.distributions in float64."""

import math

import numpy as np
import pytest
import torch
from torch.distributions import Beta, Categorical, Normal, kl_divergence

from polymodal.data.folder import open_folder
from polymodal.data.image_texts import ImageTextBatch
from polymodal.systems.vlvae.vlvae_module import VLVAE
from vlvaes import stirred, tiny

WARM = {"warmup": 0.5, "flow_share": 0.2, "image_weight": 0.02, "text_weight": 3.0}
"""Of a hundred steps, stage two has the last 20, and the KL term a warm-up of the first 40."""


@pytest.fixture(scope="module")
def train(squares):
    return open_folder(squares, size=16, progress=False)["train"]


def ready(train, step: int = 9, **changes) -> tuple[VLVAE, ImageTextBatch]:
    """A model in evaluation mode, so that batch norm and dropout are the same for whoever asks."""
    system = stirred(tiny(train, **WARM | changes), 0.1)
    system.clock.step = step
    return system, system.examples(train).batch(np.arange(6))


def loss_of(system: VLVAE, batch: ImageTextBatch) -> float:
    torch.manual_seed(5)
    system.kl_weight.fill_(system.scheduled_kl_weight())
    return system.joint_loss(batch).item()


@torch.no_grad()
def by_hand(system: VLVAE, batch: ImageTextBatch):
    """q(z|x), the draws of z, the texts, log p(x|z) and log p(y|z), from what the networks say."""
    torch.manual_seed(5)
    texts, model = system.one_text(batch.texts), system.model
    seen = model.posterior(batch.images, texts)
    q = Normal(seen.mean.double(), (0.5 * seen.log_var.double()).exp())
    noise = torch.randn(system.config.samples, *seen.mean.shape)
    z = q.mean + q.stddev * noise
    pictures, said = [], []
    for draw in z:
        code = model.code(draw.float())
        m = 0.01 + 0.98 * model.picture.decoder(code).double().sigmoid()
        x = (batch.images.double() + 0.5) / 256
        pictures.append(Beta(100 * m, 100 * (1 - m)).log_prob(x).sum((1, 2, 3)))
        words = Categorical(logits=model.text_decoder(code, texts).double())
        said.append(words.log_prob(texts).sum(1))
    return q, z, texts, torch.stack(pictures), torch.stack(said)


def kl(q: Normal) -> torch.Tensor:
    """Each dimension's share of KL(q ‖ N(0, I)), image by image."""
    return kl_divergence(q, Normal(torch.zeros_like(q.mean), torch.ones_like(q.mean)))


def test_the_loss_is_the_weighted_bound(train):
    system, batch = ready(train)
    q, _, _, pictures, said = by_hand(system, batch)
    told = 0.02 * pictures.mean() + 3 * said.mean()
    spent = kl(q).sum(1).mean()
    assert spent > 0.1
    expected = -told + 0.25 * spent
    assert loss_of(system, batch) == pytest.approx(expected.item(), rel=1e-5)


def test_the_weight_of_the_kl_rises_from_0_to_1(train):
    system, _ = ready(train)
    found = []
    for step in (0, 9, 38, 39, 40, 79):
        system.clock.step = step
        found.append(system.scheduled_kl_weight())
    assert found == pytest.approx([1 / 40, 10 / 40, 39 / 40, 1, 1, 1])
    cold, _ = ready(train, step=0, warmup=0.0)
    assert cold.scheduled_kl_weight() == 1


def test_the_weight_of_the_kl_may_rise_by_a_factor(train):
    system, _ = ready(train, warm_from=0.01)
    found = []
    for step in (0, 19, 39, 79):
        system.clock.step = step
        found.append(system.scheduled_kl_weight())
    assert found == pytest.approx([0.01 ** (39 / 40), 0.1, 1, 1])


def test_free_bits_cost_nothing(train):
    """Each dimension costs its mean over the batch, or what is free."""
    plain, batch = ready(train)
    q, _, _, pictures, said = by_hand(plain, batch)
    each = kl(q).mean(0)
    free = each.median().item()
    system, _ = ready(train, free_bits=free)
    paid = sum(max(nats, free) for nats in each.tolist())
    assert paid > each.sum() + 0.01
    expected = -(0.02 * pictures + 3 * said).mean().item() + 0.25 * paid
    assert loss_of(system, batch) == pytest.approx(expected, rel=1e-5)


def test_several_draws_give_the_importance_weighted_bound(train):
    """Burda et al. (2016), eq. 8: the mean of the logarithm of the mean weight."""
    system, batch = ready(train, samples=3)
    q, z, _, pictures, said = by_hand(system, batch)
    prior = Normal(0.0, 1.0).log_prob(z).sum(-1)
    weights = 0.02 * pictures + 3 * said + 0.25 * (prior - q.log_prob(z).sum(-1))
    assert weights.shape == (3, 6)
    each = []
    for row in weights.T.tolist():
        most = max(row)
        each.append(most + math.log(sum(math.exp(w - most) for w in row) / 3))
    assert loss_of(system, batch) == pytest.approx(-sum(each) / 6, rel=1e-5)
    assert loss_of(system, batch) < -weights.mean().item() - 0.1  # tighter than the plain one


@pytest.mark.parametrize("samples", [1, 3])
def test_jmvae_adds_the_divergence_from_what_the_text_says(train, samples):
    """004, §3: KL(q(z|x) ‖ q(z|y)) by the draws of z that the bound has."""
    plain, batch = ready(train, samples=samples)
    system, _ = ready(train, samples=samples, joint=0.7)
    q, z, texts, _, _ = by_hand(system, batch)
    with torch.no_grad():
        log_q = [system.densities.aggregate(texts, draw.float()).double() for draw in z]
    expected = (q.log_prob(z).sum(-1) - torch.stack(log_q)).mean().item()
    assert expected > 0.1
    found = loss_of(system, batch) - loss_of(plain, batch)
    assert found == pytest.approx(0.7 * expected, rel=1e-3)


def test_each_text_of_an_image_is_as_likely(train):
    system, batch = ready(train)
    torch.manual_seed(0)
    draws = torch.stack([system.one_text(batch.texts) for _ in range(400)])
    first = (draws == batch.texts[:, 0]).all(-1)
    second = (draws == batch.texts[:, 1]).all(-1)
    assert (first ^ second).all()
    assert (first.float().mean(0) - 0.5).abs().max() < 0.1


def test_shuffled_texts_keep_their_words_alone(train):
    system, batch = ready(train, shuffle=True)
    torch.manual_seed(0)
    drawn = system.one_text(batch.texts[:, :1])
    assert torch.equal(drawn.sort(1).values, batch.texts[:, 0].sort(1).values)
    assert not torch.equal(drawn, batch.texts[:, 0])


@torch.no_grad()
def test_only_the_image_networks_are_rounded(train):
    """bf16 would be wrong by nats in what is summed over words and dimensions."""
    system, batch = ready(train, joint=0.7)
    model, texts = system.model, batch.texts[:, 0]
    posterior = model.posterior(batch.images, texts)
    z = posterior.sample(1)

    def exact() -> dict[str, torch.Tensor]:
        code = model.code(z[0])
        return {
            "code": code,
            "said": model.log_py(code, texts),
            "divergence": system.divergence(posterior, z, texts),
        }

    expected, rough = exact(), model.log_px(model.code(z[0]), batch.images)
    with torch.autocast("cpu", torch.bfloat16):
        found, rounded = exact(), model.log_px(model.code(z[0]), batch.images)
    for name, value in expected.items():
        assert torch.equal(found[name], value), name
    assert rounded.dtype == torch.float32
    assert 0 < (rounded - rough).abs().max() < 0.05 * rough.abs().max()


def test_the_rate_falls_within_either_stage(train):
    """To a twentieth along a cosine, and from the whole again at the turn."""
    system, _ = ready(train, lr=1e-3, flow_lr=1e-2)
    found = system.configure_optimizers()
    adam, falling = found["optimizer"], found["lr_scheduler"]["scheduler"].lr_lambdas[0]
    assert [group["initial_lr"] for group in adam.param_groups] == [1e-3, 1e-2]
    half = 0.05 + 0.95 / 2
    assert [falling(step) for step in (0, 40, 80, 90, 100)] == pytest.approx(
        [1, half, 1, half, 0.05]
    )
    assert falling(79) < 0.052
    steady, _ = ready(train, decay=False)
    constant = steady.configure_optimizers()["lr_scheduler"]["scheduler"].lr_lambdas[0]
    assert {constant(step) for step in (0, 50, 80, 99)} == {1.0}


def test_both_groups_are_all_that_is_learned(train):
    system, _ = ready(train)
    groups = system.configure_optimizers()["optimizer"].param_groups
    model, densities = ({id(p) for p in group["params"]} for group in groups)
    assert model == {id(p) for p in system.model.parameters()}
    assert model | densities == {id(p) for p in system.parameters()}
    assert not model & densities
