"""Training: repeatable to the bit, in any precision, and plain about what goes wrong."""

import itertools

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.runs.run_folder import Run
from polymodal.systems.retrieval import Retrieval
from polymodal.training import recording
from polymodal.training.checkpoints import SafeCheckpoints
from polymodal.training.survival import Survival, step_seed
from polymodal.training.training_config import OPERATIONAL, Training
from recordings import Eager
from toys import TINY, flat, polymodal, train_squares, write_squares
from vlvaes import train_vlvae

CROP = {"crop": 0.8, "flip": True}
"""Augmentation, so that each step draws random numbers."""


def weights(folder) -> dict[str, torch.Tensor]:
    return Run(folder).weights()


def equal(a, b) -> bool:
    mine, theirs = weights(a), weights(b)
    return mine.keys() == theirs.keys() and all(torch.equal(mine[k], theirs[k]) for k in mine)


def test_one_seed_one_result_another_seed_another(squares, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train_squares(squares, tmp_path / name, seed=seed, model=CROP)
    assert equal(tmp_path / "a", tmp_path / "b")
    assert not equal(tmp_path / "a", tmp_path / "c")


def test_the_seed_of_a_step_reaches_the_augmentation(squares, tmp_path, monkeypatch):
    train_squares(squares, tmp_path / "a", model=CROP)
    monkeypatch.setattr("polymodal.training.survival.step_seed", lambda *_: 7)
    train_squares(squares, tmp_path / "b", model=CROP)
    assert not equal(tmp_path / "a", tmp_path / "b")


def test_resident_pairs_train_the_same_weights(squares, tmp_path):
    train_squares(squares, tmp_path / "a", model=CROP)
    train_squares(squares, tmp_path / "b", model=CROP, resident=True)
    assert equal(tmp_path / "a", tmp_path / "b")


def test_validations_and_checkpoints_do_not_touch_the_weights(squares, tmp_path):
    train_squares(squares, tmp_path / "a", model=CROP, checkpoint_every=1, val_every=3)
    often = train_squares(squares, tmp_path / "b", model=CROP, val_every=1)
    assert len([point for point in often["curves"] if "rsum" in point]) == 3
    last = [torch_state(tmp_path / name) for name in "ab"]
    assert all(torch.equal(last[0][k], last[1][k]) for k in last[0])


def torch_state(folder) -> dict[str, torch.Tensor]:
    """The weights of the last step."""
    newest = sorted((folder / "checkpoints").glob("*.ckpt"))[-1]
    return SafeCheckpoints().load_checkpoint(newest)["state_dict"]


def test_a_run_killed_before_its_scores_were_written_writes_them(squares, tmp_path):
    whole = train_squares(squares, tmp_path)
    (tmp_path / "metrics.json").unlink()
    again = train_squares(squares, tmp_path)
    assert again["scores"] == whole["scores"]
    assert again["curves"] == whole["curves"]


def test_two_steps_in_bf16(squares, tmp_path):
    found = train_squares(squares, tmp_path, max_steps=2, precision="bf16")
    assert [point["step"] for point in found["curves"]] == [1, 2]
    assert {value.dtype for value in weights(tmp_path).values()} == {torch.float32}


@pytest.mark.slow
def test_two_compiled_steps_keep_the_names_of_the_weights(squares, tmp_path):
    """In a process of its own, as the checks of shapes at run time cannot be compiled."""
    run = tmp_path / "b"
    command = ["train", "vse", "--data", f"folder:{squares},size=32", "--run", str(run), *TINY]
    short = ["--max-steps", "2", "--batch-size", "8", "--accelerator", "cpu", "--compile"]
    status, printed = polymodal(*command, *short)
    if "InductorError" in printed:
        pytest.skip(f"torch.compile does not work here: {printed[-200:]}")
    assert status == 0, printed
    train_squares(squares, tmp_path / "a", max_steps=2)
    mine, theirs = weights(tmp_path / "a"), weights(run)
    assert mine.keys() == theirs.keys()
    for name, value in mine.items():
        torch.testing.assert_close(theirs[name], value, rtol=1e-2, atol=1e-3)


def test_steps_of_retrieval_are_not_recorded(squares, tmp_path):
    with pytest.raises(PolymodalError, match=r"--record is for VLVAEs, .* or try --compile"):
        train_squares(squares, tmp_path, record=True)


def test_a_training_records_its_steps_where_that_is_asked_for(squares, tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "Recording", Eager)
    monkeypatch.setattr(recording, "recordable", lambda device: True)
    taken, step = [], Eager.play
    monkeypatch.setattr(Eager, "play", lambda *a: taken.append(1) or step(*a))
    train_vlvae(squares, tmp_path / "a")
    assert not taken
    train_vlvae(squares, tmp_path / "b", record=True)
    assert len(taken) == 8
    assert equal(tmp_path / "a", tmp_path / "b")


def test_a_loss_that_is_no_number_stops(squares, tmp_path, monkeypatch):
    step, count = Retrieval.training_step, itertools.count(1)

    def failing(self, batch, batch_idx):
        found = step(self, batch, batch_idx)
        return found if next(count) < 3 else {k: v * torch.nan for k, v in found.items()}

    monkeypatch.setattr(Retrieval, "training_step", failing)
    with pytest.raises(PolymodalError, match=r"loss became nan at step 3\. Try a smaller --lr, .* in "
                       r"another --run\. The last good checkpoint here is that of step 2, in .*"
                       r"checkpoints\. The best weights until then, of step 1, are in"):  # fmt: skip
        train_squares(squares, tmp_path, max_steps=5, checkpoint_every=2, val_every=1)
    assert [p.name for p in (tmp_path / "checkpoints").iterdir()] == ["step-00000002.ckpt"]
    assert not Run(tmp_path).finished


def survival(config: Training, folder, said: list[str]) -> Survival:
    return Survival(
        Ill(),
        config,
        folder,
        val_every=1,
        validate=dict,
        keep=lambda: None,
        say=said.append,
    )


class Ill:
    """A system that thinks every loss above 1 a symptom."""

    def symptom(self, loss: float) -> str | None:
        return "All is lost." if loss > 1 else None


def test_a_collapse_is_named_once_after_five_observations(tmp_path):
    said: list[str] = []
    watcher = survival(Training(), tmp_path, said)
    for step, loss in enumerate([2, 2, 2, 2, 0.5, 2, 2, 2, 2], 1):
        watcher.watch(loss, step)
    assert said == []
    for step in range(10, 30):
        watcher.watch(2, step)
    assert said == ["At step 10: All is lost."]


@pytest.mark.parametrize("loss", [float("nan"), float("inf"), -float("inf")])
def test_every_loss_that_is_no_number_is_found(tmp_path, loss):
    with pytest.raises(PolymodalError, match=f"loss became {loss}"):
        survival(Training(), tmp_path, []).watch(loss, 1)


def test_a_collapsed_hinge_is_named_in_a_real_training(squares, tmp_path, monkeypatch, capsys):
    def collapsed(self, batch, batch_idx):
        loss = 0 * self.images.head.weight.sum()
        return {"loss": loss, "shown": loss.detach() + 0.4}

    monkeypatch.setattr(Retrieval, "training_step", collapsed)
    train_squares(squares, tmp_path, max_steps=8)
    printed = " ".join(capsys.readouterr().err.split())
    assert printed.count("all images and captions have the same embedding") == 1
    assert "At step 5:" in printed


def test_the_seeds_of_steps_and_processes_are_distinct():
    seeds = {
        step_seed(seed, step, rank)
        for seed, step, rank in itertools.product(range(4), range(500), range(4))
    }
    assert len(seeds) == 8000
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_the_budget_is_in_epochs_or_steps():
    from polymodal.data.batch_order import Order

    order = Order(examples=100, batch_size=8, seed=0)
    assert Training(epochs=2).budget(order) == 24
    assert Training(epochs=0.01).budget(order) == 1
    assert Training(epochs=2, max_steps=7).budget(order) == 7


def test_what_may_differ_is_a_setting():
    assert vars(Training()).keys() >= OPERATIONAL
    assert not OPERATIONAL & {"seed", "batch_size", "max_steps", "precision", "epochs"}


def test_data_without_a_needed_split(tmp_path):
    with pytest.raises(PolymodalError, match="has no split 'val', only train"):
        train_squares(tmp_path, tmp_path / "run", data="scenes,size=16,train=8,val=0,test=0")


def test_a_corrected_mistake_may_use_the_same_folder(squares, tmp_path):
    with pytest.raises(PolymodalError, match="Did you mean 'scenes'"):
        train_squares(squares, tmp_path, data="scens")
    train_squares(squares, tmp_path, max_steps=1)
    assert Run(tmp_path).finished


def test_a_run_does_not_go_on_with_other_data(tmp_path):
    squares, run = write_squares(tmp_path / "squares"), tmp_path / "run"
    train_squares(squares, run)
    (run / "metrics.json").unlink()
    learned = (run / "learned.json").read_bytes()
    captions = squares / "captions.csv"
    captions.write_text(captions.read_text().replace("something", "anything"))
    with pytest.raises(PolymodalError, match="no longer what it was begun with"):
        train_squares(squares, run)
    assert (run / "learned.json").read_bytes() == learned


def test_a_gpu_that_is_not_there(squares, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(PolymodalError, match="--accelerator gpu with --devices 1, but 0 GPUs"):
        train_squares(squares, tmp_path, accelerator="gpu")


@pytest.mark.parametrize("left", [True, False])
def test_training_goes_on_before_a_checkpoint_that_is_none(squares, tmp_path, capsys, left):
    train_squares(squares, tmp_path / "a", max_steps=4)
    train_squares(squares, tmp_path / "b", max_steps=4, checkpoint_every=2)
    (tmp_path / "b" / "metrics.json").unlink()
    before, last = sorted((tmp_path / "b" / "checkpoints").iterdir())
    SafeCheckpoints().save_checkpoint({"state_dict": Exception}, last)
    if not left:
        before.write_bytes(b"")
    capsys.readouterr()
    train_squares(squares, tmp_path / "b", max_steps=4, checkpoint_every=2)
    told = flat(capsys.readouterr().err)
    assert f"{last} is no checkpoint of a training" in told
    assert "weights_only" not in told
    assert ("Going on from step 2 of 4." in told) == left
    assert ("No good checkpoint is left: training begins anew." in told) != left
    assert equal(tmp_path / "a", tmp_path / "b")


def test_changed_training_data_are_refused(squares, tmp_path):
    train_squares(squares, tmp_path)
    (tmp_path / "metrics.json").unlink()
    other = write_squares(tmp_path / "other", train=44)
    with pytest.raises(PolymodalError, match="other settings"):
        train_squares(other, tmp_path)


def test_without_a_terminal_the_progress_comes_in_lines(squares, tmp_path, capsys, monkeypatch):
    from polymodal.base import progress

    monkeypatch.setattr(progress, "PAUSE", 0.0)
    train_squares(squares, tmp_path / "run", max_steps=3)
    told = capsys.readouterr().err
    assert "step 1 of 3" in told and "examples/s" in told
