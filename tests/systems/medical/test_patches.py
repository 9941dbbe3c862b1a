"""Training on patches of volumes: it learns, and a killed run ends as if it had not been."""

import numpy as np
import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.data.drawn import phantoms
from polymodal.runs import jobs
from polymodal.systems.medical import cmim, unet
from polymodal.training.checkpoints import SafeCheckpoints
from polymodal.training.training_config import Training
from scans import INFORMED, made, scan_splits, scans
from toys import fall

SMALL = {"width": 8, "levels": 2}


def test_a_batch_of_patches_of_phantoms_is_learned() -> None:
    train = phantoms.named("phantoms-3d", size=16, train=4, val=1, test=1).splits()["train"]
    system = made(unet, train, levels=2, patch=8, foreground=1.0, dice_weight=0.5)
    batch = system.examples(train).batch(np.arange(2))
    torch.manual_seed(0)
    given, _, _ = system.scans(batch)
    cut, truth = system.cut(given, system.truth(batch.mask))
    assert truth.shape == (2, 8, 8, 8)
    assert all(own.flatten().any() for own in truth)
    assert [own.shape[2:] for own in cut] == [(8, 8, 8)] * 4

    def same_patches(*_) -> None:
        torch.manual_seed(0)

    system.register_forward_pre_hook(same_patches)
    step = system.training_step
    system.training_step = lambda *given: (same_patches(), step(*given))[1]
    losses = fall(system, batch, 60)
    assert losses[-1] < 0.4 * losses[0]


def test_the_bounds_are_of_patches_too() -> None:
    train = scans(9, side=12, dims=3)
    system = made(cmim, train, levels=2, patch=8, augment=True, **INFORMED)
    seen = []
    encode = system.encode
    system.encode = lambda own: seen.append(tuple(own[0].shape[2:])) or encode(own)
    loss = system.train().training_step(system.examples(train).batch(np.arange(4)), 0)["loss"]
    assert torch.isfinite(loss)
    first, second = (system.held_out_bounds(train) for _ in range(2))
    assert first == second
    assert np.isfinite(first["bound_ll"])
    assert set(seen) == {(8, 8, 8)}


def test_a_killed_run_ends_as_if_it_had_not_been(tmp_path, monkeypatch) -> None:
    splits = scan_splits(count=30, dims=3, side=10)
    config = cmim.Config(**SMALL, patch=6, critic_hidden=8)
    training = Training(
        accelerator="cpu", max_steps=6, batch_size=6, val_every=3, checkpoint_every=2
    )

    def go(folder) -> dict:
        jobs.train("cmim", config, training, data="scans", run=folder,
                   opening=lambda data, **how: splits)  # fmt: skip
        last = max((folder / "checkpoints").glob("step-*.ckpt"))
        return SafeCheckpoints().load_checkpoint(last)["state_dict"]

    whole = go(tmp_path / "whole")
    step, count = cmim.CMIM.training_step, iter(range(100))

    def dies(self, *given):
        if next(count) == 4:
            raise KeyboardInterrupt
        return step(self, *given)

    monkeypatch.setattr(cmim.CMIM, "training_step", dies)
    with pytest.raises(KeyboardInterrupt):
        go(tmp_path / "killed")
    monkeypatch.setattr(cmim.CMIM, "training_step", step)
    resumed = go(tmp_path / "killed")
    assert whole.keys() == resumed.keys()
    assert all(whole[name].equal(resumed[name]) for name in whole)


def test_a_patch_must_be_halved() -> None:
    with pytest.raises(
        PolymodalError, match=r"A patch of 8 cannot be halved 4 times\. Give --patch 16"
    ):
        unet.Config(patch=8)
    with pytest.raises(PolymodalError, match="foreground is a share, from 0 to 1, not 2"):
        unet.Config(foreground=2.0)
