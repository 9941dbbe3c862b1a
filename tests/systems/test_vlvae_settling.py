"""Running moments that are those of the model as it is used, and stage two, which learns from that model."""

import pytest
import torch

from polymodal.data.folder import Folder, open_folder
from polymodal.systems.vlvae import system as systems
from polymodal.systems.vlvae.settling import settle
from vlvaes import stirred, tiny, train_vlvae


@pytest.fixture(scope="module")
def train(squares) -> Folder:
    return open_folder(squares, size=16, progress=False)["train"]


def test_moments_are_those_of_the_batches(train):
    """Of the first norm, which sees encodings alone; all batches count alike."""
    system = stirred(tiny(train))
    batches = list(system.examples(train).blocks(12, 4))
    layer, norm = system.model.shared_encoder.layers[0][:2]
    norm.running_mean.add_(5)
    settle(system.model, batches)
    each = [layer(system.model.image_encoder(b.images / 256 + 0.5 / 256)).double() for b in batches]
    mean = torch.stack([x.mean(0) for x in each]).mean(0)
    var = torch.stack([x.var(0) for x in each]).mean(0)
    torch.testing.assert_close(norm.running_mean.double(), mean, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(norm.running_var.double(), var, rtol=1e-4, atol=1e-5)


def test_nothing_else_changes(train):
    system = stirred(tiny(train))
    before = {name: value.clone() for name, value in system.state_dict().items()}
    settle(system.model, list(system.examples(train).blocks(8, 4)))
    changed = {k for k, v in system.state_dict().items() if not torch.equal(v, before[k])}
    assert changed
    assert all((".shared_" in name and "running" in name) or "tracked" in name for name in changed)
    norms = [m for m in system.modules() if isinstance(m, torch.nn.BatchNorm1d)]
    assert {norm.momentum for norm in norms} == {0.1}
    assert not any(part.training for part in system.model.shared_encoder.modules())


def test_autocast_does_not_round_them(train):
    one, two = (stirred(tiny(train)) for _ in range(2))
    batches = list(one.examples(train).blocks(8, 4))
    torch.manual_seed(0)
    settle(one.model, batches)
    torch.manual_seed(0)
    with torch.autocast("cpu", torch.bfloat16):
        settle(two.model, batches)
    for name, value in one.state_dict().items():
        assert torch.equal(value, two.state_dict()[name])


def test_they_are_settled_before_each_validation_of_stage_one_and_at_the_turn(
    squares, tmp_path, monkeypatch
):
    steps = []
    monkeypatch.setattr(systems.VLVAE, "settle", lambda self: steps.append(self.global_step))
    train_vlvae(squares, tmp_path, val_every=3)
    assert steps == [3, 4]


def test_a_model_without_training_images_stays_as_it_is(train):
    system = stirred(tiny(train))
    before = {name: value.clone() for name, value in system.state_dict().items()}
    system.settle()
    assert all(torch.equal(v, before[k]) for k, v in system.state_dict().items())


def test_a_batch_of_one_has_no_moments(train, monkeypatch):
    system = tiny(train)
    system.start(train)
    monkeypatch.setattr(systems, "SETTLING", 1)
    assert system.settlers == []


def test_stage_two_encodes_unrounded(train, monkeypatch):
    """Densities are of the latent variable that evaluation and use will see."""
    system = stirred(tiny(train))
    batch = next(iter(system.examples(train).blocks(4, 4)))
    seen = []

    def losses(self, model, texts, z):
        seen.append(z)
        return {"aggregate": z.sum()}

    monkeypatch.setattr(type(system.densities), "losses", losses)
    torch.manual_seed(0)
    system.density_loss(batch)
    torch.manual_seed(0)
    with torch.autocast("cpu", torch.bfloat16):
        system.density_loss(batch)
        torch.manual_seed(0)
        rounded = system.model.posterior(batch.images, None).sample(2).flatten(0, 1)
    assert torch.equal(*seen)
    assert rounded.shape == seen[0].shape and not torch.equal(rounded, seen[0])
