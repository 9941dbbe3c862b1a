"""Weights that are no numbers any more: neither checkpointed nor kept, and told of truly."""

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.nn.finite import first_unfinite
from polymodal.runs.run_folder import Run
from polymodal.training.survival import Survival
from polymodal.training.training_config import Training
from toys import train_squares


def poisoned(monkeypatch, after: int) -> None:
    """Weights that run away after some steps, though the loss is finite."""
    original = Survival.on_train_batch_end

    def poison(self, trainer, system, outputs, batch, batch_idx):
        if self.system.clock.step >= after:
            with torch.no_grad():
                system.images.head.weight.fill_(torch.nan)
        return original(self, trainer, system, outputs, batch, batch_idx)

    monkeypatch.setattr(Survival, "on_train_batch_end", poison)


def test_weights_that_ran_away_are_not_checkpointed(squares, tmp_path, monkeypatch):
    poisoned(monkeypatch, after=0)
    message = r"weights images\.head\.weight are no longer finite at step 1"
    with pytest.raises(PolymodalError, match=message):
        train_squares(squares, tmp_path, checkpoint_every=1, val_every=100)
    assert not list((tmp_path / "checkpoints").glob("*.ckpt"))


def test_weights_that_ran_away_are_not_kept_as_the_best(squares, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        poisoned(patch, after=1)
        with pytest.raises(PolymodalError) as error:
            train_squares(squares, tmp_path, max_steps=5, val_every=1)
    assert str(error.value) == (
        "The weights images.head.weight are no longer finite at step 2. Nothing is left to go on from: "
        "start again with a smaller --lr, --clip 1 or --precision 32. The best weights until then, of "
        f"step 1, are in {tmp_path}."
    )
    assert all(value.isfinite().all() for value in Run(tmp_path).weights().values())
    train_squares(squares, tmp_path, model={"lr": 1e-5})  # in the same folder, with another setting
    assert Run(tmp_path).finished


def test_a_run_that_ran_away_goes_on_from_its_last_good_checkpoint(squares, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        poisoned(patch, after=2)
        with pytest.raises(
            PolymodalError, match=r"another --run\. The last good .* that of step 2, in"
        ):
            train_squares(squares, tmp_path / "a", max_steps=4, checkpoint_every=2, val_every=2)
    with pytest.raises(PolymodalError, match="begun with other settings"):
        train_squares(squares, tmp_path / "a", max_steps=4, val_every=2, model={"lr": 1e-5})
    again = train_squares(squares, tmp_path / "a", max_steps=4, checkpoint_every=2, val_every=2)
    whole = train_squares(squares, tmp_path / "b", max_steps=4, checkpoint_every=2, val_every=2)
    assert again["curves"] == whole["curves"]


def test_a_run_that_ran_away_before_its_first_validation_leaves_nothing(
    squares, tmp_path, monkeypatch
):
    poisoned(monkeypatch, after=0)
    with pytest.raises(
        PolymodalError, match=r"finite at step 1\. Nothing is left .* --precision 32\.$"
    ):
        train_squares(squares, tmp_path, max_steps=1, val_every=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "config.yaml",
        "hashes.json",
        "learned.json",
        "tensorboard",
    ]
    with pytest.raises(PolymodalError, match=r"has no weights yet.*with a smaller --lr"):
        Run(tmp_path).weights()


def test_buffers_that_ran_away_are_found(tmp_path):
    system = torch.nn.BatchNorm1d(3)
    watcher = Survival(
        system, Training(), tmp_path, val_every=1, last=9, validate=dict, keep=print, say=print
    )
    watcher.check_weights(1)
    system.running_var[2] = torch.inf
    with pytest.raises(PolymodalError, match=r"weights running_var are no longer finite at step 1"):
        watcher.check_weights(1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_one_number_among_many_is_found(dtype, bad):
    state = {"a": torch.randn(99, 99, dtype=dtype), "b": torch.tensor(0.5, dtype=dtype)}
    state |= {"none": torch.zeros(0, 3), "count": torch.tensor(3), "known": torch.tensor([True])}
    assert first_unfinite(state | {"extra": "text"}) is None
    state["a"][98, 97] = bad
    assert first_unfinite(state) == "a"
