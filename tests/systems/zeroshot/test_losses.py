"""The loss of each learner, against its definition in plain loops; and what it must not depend on."""

import numpy as np
import pytest
import torch

from learners import made
from patches import SIZE, TRAIN, UNSEEN
from polymodal.systems.zeroshot.class_examples import PartnerBatch


def batch_of(system):
    """Sixteen images of several classes, two of each or one."""
    return system.examples(TRAIN).batch(np.arange(0, 96, 6))


def test_bytes_lie_between_minus_one_and_one():
    system = made("fc").eval()
    batch = batch_of(system)
    side = round(SIZE * system.config.crop)
    top = (SIZE - side) // 2
    middle = batch.images[:, :, top : top + side, top : top + side]
    torch.testing.assert_close(
        system.see(batch.images).seen, middle.double().sub(127.5).div(127.5).float()
    )


def pairs_of(critic, whole, maps, labels):
    """log σ of the scores of places of a partner, and log σ of minus those of images of other classes."""
    scores = critic(whole, maps).double()
    together, apart = [], []
    for row, own in enumerate(labels):
        together.append(torch.nn.functional.logsigmoid(scores[row, row]))
        for column, other in enumerate(labels):
            if own != other:
                apart.append(torch.nn.functional.logsigmoid(-scores[row, column]))
    return torch.cat(together).mean() + torch.cat(apart).mean()


@pytest.mark.parametrize("scales", ["local", "local-and-last"])
def test_cmdim_tells_places_of_partners_from_those_of_other_classes(scales):
    """The images of a class are neither; both ways round, at one scale or in the mean of two."""
    system = made("cmdim", critic_hidden=8, scales=scales).eval()
    batch = batch_of(system)
    labels = batch.labels.tolist()
    assert len(set(labels)) < len(labels)
    assert not torch.equal(batch.others, batch.images)
    features, others = system.see(batch.images), system.see(batch.others)
    found = system.loss(system.views(batch), batch)
    bounds = [
        pairs_of(critic, one.whole, getattr(other, maps), labels).item()
        for one, other in ((features, others), (others, features))
        for critic, maps in ((system.critic, "local"), (system.far_critic, "last"))
        if critic is not None
    ]
    assert len(bounds) == (2 if scales == "local" else 4)
    assert found.item() == pytest.approx(-(np.log(4) + np.mean(bounds)), rel=1e-4)
    moved = PartnerBatch(batch.images, batch.labels, batch.others.flip(0))
    moved_loss = system.loss(system.views(moved), moved)
    assert moved_loss.item() != pytest.approx(found.item(), rel=1e-4)


@pytest.mark.parametrize("itself", ["features", "look"])
def test_an_image_that_is_its_own_partner_knows_its_own_features_or_another_look(itself):
    system = made(
        "cmdim", p=0.5, critic_hidden=8, self_positive=itself, scales="local-and-last"
    ).train()
    batch = batch_of(system)
    own = torch.tensor(
        [torch.equal(*pair) for pair in zip(batch.images, batch.others, strict=True)]
    )
    assert torch.equal(batch.own, own) and 0 < own.sum() < len(own)
    one, other = system.views(batch)
    assert not torch.equal(one.local[own], other.local[own])  # windows of their own
    system.critic.eval()
    system.far_critic.eval()
    same = own & (itself == "features")
    whole, local, last = (
        torch.stack([(a if mine else b)[k] for k, mine in enumerate(same)])
        for a, b in (
            (getattr(one, name), getattr(other, name)) for name in ("whole", "local", "last")
        )
    )
    labels = batch.labels.tolist()
    bounds = [
        pairs_of(system.critic, one.whole, local, labels),
        pairs_of(system.critic, whole, one.local, labels),
        pairs_of(system.far_critic, one.whole, last, labels),
        pairs_of(system.far_critic, whole, one.last, labels),
    ]
    found = system.loss([one, other], batch).item()
    assert found == pytest.approx(-(np.log(4) + torch.stack(bounds).mean().item()), rel=1e-4)


def test_dim_tells_its_own_places_from_those_of_all_others():
    system = made("dim", critic_hidden=8).eval()
    batch = batch_of(system)
    features = system.see(batch.images)
    own = pairs_of(system.critic, features.whole, features.local, range(len(batch)))
    found = system.loss([features], batch).item()
    assert found == pytest.approx(-(np.log(4) + own.item()), rel=1e-4)


def test_pn_is_a_softmax_of_cosines():
    system = made("pn", scale=3.0).eval()
    batch = batch_of(system)
    whole = system.see(batch.images).whole.double()
    prototypes = system.prototypes(system.attributes).double()
    losses = []
    for row, label in zip(whole, batch.labels.tolist(), strict=True):
        cosines = torch.cosine_similarity(row[None], prototypes[list(TRAIN.chosen)])
        losses.append(-(3 * cosines).log_softmax(0)[TRAIN.chosen.index(label)].item())
    assert system.step(batch)["loss"].item() == pytest.approx(np.mean(losses), rel=1e-4)


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("local", ["attributes", "labels"])
def test_the_answers_of_places_are_averaged_before_they_are_compared_unless_told(local, each):
    system = made("fc", local=local, local_weight=0.5, local_per_position=each).eval()
    batch = batch_of(system)
    features = system.see(batch.images)
    weight, bias = system.local.tell.weight[:, :, 0, 0].double(), system.local.tell.bias.double()
    losses = []
    for maps, label in zip(features.local.double(), batch.labels.tolist(), strict=True):
        places = [maps[:, y, x] for y in range(maps.shape[1]) for x in range(maps.shape[2])]
        answers = [weight @ place + bias for place in places]
        for told in answers if each else [sum(answers) / len(places)]:
            logits = system.attributes.double() @ told if local == "attributes" else told
            known = logits[list(TRAIN.chosen)]
            losses.append(-known.log_softmax(0)[TRAIN.chosen.index(label)].item())
    expected = system.loss([features], batch).item() + 0.5 * np.mean(losses)
    assert system.step(batch)["loss"].item() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("each", [False, True])
def test_a_hidden_layer_and_centred_attributes_of_the_local_loss(each):
    how = {"local_hidden": 12, "local_centred": True, "local_per_position": each}
    system = made("fc", local="attributes", **how).eval()
    batch = batch_of(system)
    features = system.see(batch.images)
    (first, _), last = system.local.hidden, system.local.tell
    known = system.attributes[list(TRAIN.chosen)]
    attributes = (known - known.mean(0)) * known.shape[1] ** 0.5
    losses = []
    for maps, label in zip(features.local, batch.labels.tolist(), strict=True):
        logits = []
        for position in maps.flatten(1).T:
            hidden = (first.weight[:, :, 0, 0] @ position + first.bias).relu()
            logits.append(attributes @ (last.weight[:, :, 0, 0] @ hidden + last.bias))
        for scores in logits if each else [sum(logits) / len(logits)]:
            losses.append(-scores.log_softmax(0)[TRAIN.chosen.index(label)].item())
    assert system.local_loss(features, batch.labels).item() == pytest.approx(
        np.mean(losses), rel=1e-5
    )


@pytest.mark.parametrize("name", ["cmdim", "amdim", "vicreg"])
def test_the_local_loss_is_of_both_looks(name):
    system = made(name, local="attributes").eval()
    batch = batch_of(system)
    views = system.views(batch)
    own = [system.local_loss(view, batch.labels).item() for view in views]
    expected = system.loss(views, batch).item() + np.mean(own)
    assert system.step(batch)["loss"].item() == pytest.approx(expected, rel=1e-4)
    if name == "cmdim":  # in evaluation two looks at one picture are the same
        assert own[0] != pytest.approx(own[1])


WINDOWED = {"amdim": {"augmentation": "window"}, "fc": {}}


def test_amdim_sees_windows_where_told():
    system, other = (made(name, **how).train() for name, how in WINDOWED.items())
    batch, seen = batch_of(system), []
    for each in (system, other):
        torch.manual_seed(1)
        seen.append(each.see(batch.images).seen)
    assert torch.equal(*seen)
    first, second = (view.seen for view in system.views(batch))
    assert not torch.equal(first, second)


def test_the_critic_of_aae_takes_noise_for_noise():
    system = made("aae", code=16, hidden=32, std=0.5).eval()
    batch = batch_of(system)
    features = system.see(batch.images)
    torch.manual_seed(1)
    found = system.loss([features], batch).item()
    torch.manual_seed(1)
    code = system.code(features.whole)
    real, false = system.critic(torch.randn_like(code)).sigmoid(), system.critic(code).sigmoid()
    away = (system.drawer(code) - features.seen).square().mean((1, 2, 3)) / (2 * 0.5**2)
    expected = away.mean() - real.log().mean() - (1 - false).log().mean()
    assert found == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.parametrize("local", ["attributes", "labels"])
def test_a_local_loss_teaches_early_layers(local):
    system = made("fc", local=local)
    batch = batch_of(system)
    plain = system.loss([system.eval().see(batch.images)], batch)
    whole = system.step(batch)["loss"]
    assert whole > plain
    (whole - plain).backward()
    third, fourth = (system.encoder.layers[k][0].weight.grad for k in (2, 3))
    assert third.abs().sum() > 0
    assert fourth.abs().sum() < 1e-5 * third.abs().sum()


@pytest.mark.parametrize(
    ("name", "local", "centred"),
    [
        ("pn", "none", False),
        ("fc", "attributes", False),
        ("fc", "attributes", True),
        ("fc", "labels", False),
    ],
)
def test_nothing_is_learned_of_classes_without_images(name, local, centred):
    """Their attributes may be anything."""
    system = made(name, local=local, local_centred=centred).eval()
    batch = batch_of(system)
    loss = system.step(batch)["loss"]
    system.attributes[list(UNSEEN)] = torch.rand(len(UNSEEN), 8)
    assert torch.equal(system.step(batch)["loss"], loss)
    system.attributes[TRAIN.chosen[0]] = torch.rand(8)
    assert not torch.equal(system.step(batch)["loss"], loss) or local == "labels"


def test_beta_weighs_the_divergence():
    """And what is drawn again is what was seen: a window of the picture."""
    losses = []
    for beta in (0.0, 1.0, 4.0):
        system = made("vae", code=16, beta=beta).eval()
        batch = batch_of(system)
        torch.manual_seed(1)
        losses.append(system.step(batch)["loss"].item())
    assert losses[0] < losses[1] < losses[2]
    assert losses[2] - losses[0] == pytest.approx(4 * (losses[1] - losses[0]), rel=0.05)
    features = system.see(batch.images)
    assert features.seen.shape == system.drawer(torch.randn(16, 16)).shape == (16, 3, 35, 35)


def test_amdim_looks_twice_in_training_alone():
    system = made("amdim", critic_hidden=8)
    batch = batch_of(system)
    first, second = (system.train().see(batch.images).seen for _ in range(2))
    assert first.shape == second.shape == (16, 3, 35, 35)
    assert not torch.equal(first, second)
    first, second = (system.eval().see(batch.images).seen for _ in range(2))
    assert torch.equal(first, second)
    assert torch.equal(first, made("fc").eval().see(batch.images).seen)
    system.train().step(batch)["loss"].backward()
    for part in (system.critic, system.far_critic, system.encoder):
        assert all(p.grad is not None for p in part.parameters())


@pytest.mark.parametrize("critic", ["encode-and-dot", "concat-and-convolve"])
def test_the_scores_of_amdim_are_clipped_and_kept_small(critic):
    """Against log-softmaxes row by row in float64."""
    system = made("amdim", critic=critic, critic_hidden=9, dim=16, slim=16, limit=0.5).eval()
    whole, maps = torch.randn(4, 16), torch.randn(4, 16, 2, 2)
    scores = system.critic(whole, maps).double()
    clipped = 0.5 * torch.tanh(scores / 0.5)
    bounds = []
    for row in range(4):
        apart = torch.cat([clipped[row, other] for other in range(4) if other != row])
        for place in clipped[row, row]:
            among = torch.cat([place[None], apart])
            bounds.append(place - among.logsumexp(0) + np.log(len(among)))
    expected = torch.stack(bounds).mean() - 0.05 * scores.square().mean()
    found = system.bound_of(system.critic(whole, maps)).item()
    assert found == pytest.approx(expected.item(), rel=1e-4)


@pytest.mark.parametrize("name", ["dim", "amdim", "cmdim"])
@pytest.mark.parametrize(("scaled", "root"), [(True, 3.0), (False, 1.0)])
def test_scores_are_over_the_root_of_their_width_unless_told_otherwise(name, scaled, root):
    system = made(name, critic_hidden=9, critic_scaled=scaled)
    assert made(name, critic_hidden=9).critic.scale == pytest.approx(1 / 3)
    assert system.critic.scale == pytest.approx(1 / root)


def test_the_players_of_aae_pull_apart():
    """A step of the critic's own makes its error smaller, one of the code's larger."""
    gradients = {}
    for adversity in (0.0, 1.0, 3.0):
        system = made("aae", code=16, hidden=32, adversarial_weight=adversity).eval()
        batch = batch_of(system)
        torch.manual_seed(1)
        system.step(batch)["loss"].backward()
        gradients[adversity] = system.code.weight.grad, system.critic[0].weight.grad
    (none, critic), (one, same), (three, again) = gradients.values()
    assert torch.equal(critic, same)
    assert torch.equal(critic, again)
    torch.testing.assert_close(three - none, 3 * (one - none), rtol=1e-3, atol=1e-4)
    from polymodal.systems.zeroshot.aae import GradientReversal

    code = torch.randn(8, 16, requires_grad=True)
    plain, turned = (
        system.critic(code).sum(),
        system.critic(GradientReversal.apply(code, 2.0)).sum(),
    )
    (forward,), (back,) = (torch.autograd.grad(value, code) for value in (plain, turned))
    torch.testing.assert_close(back, -2 * forward)
