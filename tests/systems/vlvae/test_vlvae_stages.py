"""The two stages of a VLVAE in whole trainings: what moves, what is kept, and that a stop changes nothing."""

import dataclasses
import shutil

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.data.folder import open_folder
from polymodal.runs import jobs
from polymodal.runs.run_folder import Run
from polymodal.systems.vlvae.vlvae import Config
from polymodal.systems.vlvae.vlvae_module import VLVAE
from polymodal.training.checkpoints import SafeCheckpoints
from polymodal.training.fitting import make_trainer
from polymodal.training.system import System
from polymodal.training.training_config import Training
from toys import polymodal
from vlvaes import TINY, tiny, train_vlvae

State = dict[str, torch.Tensor]


def copied(system: VLVAE) -> State:
    """Every parameter and buffer as it is now."""
    return {name: value.clone() for name, value in system.state_dict().items()}


def checkpoints(run) -> list[dict]:
    """The newest two, the older one first."""
    return [
        SafeCheckpoints().load_checkpoint(path)
        for path in sorted((run / "checkpoints").glob("*.ckpt"))
    ]


def last(run) -> State:
    return checkpoints(run)[-1]["state_dict"]


def moved(before: State, after: State, part: str = "") -> set[str]:
    """The names below a part that are no longer, bit for bit, what they were."""
    assert before.keys() == after.keys()
    return {k for k in before if k.startswith(part) and not torch.equal(before[k], after[k])}


def learned(state: State, part: str) -> set[str]:
    return {name for name in state if name.startswith(part)}


@pytest.fixture
def seen(monkeypatch) -> dict[str, State]:
    """The weights at the start of a training and at the turn."""
    found: dict[str, State] = {}
    start, freeze = VLVAE.start, VLVAE.freeze_model

    def starting(self, train):
        start(self, train)
        found["start"] = copied(self)

    def freezing(self):
        found["turn"] = copied(self)
        freeze(self)

    monkeypatch.setattr(VLVAE, "start", starting)
    monkeypatch.setattr(VLVAE, "freeze_model", freezing)
    return found


def test_only_densities_move_in_stage_two_and_only_the_model_before(squares, tmp_path, seen):
    """004, §2: validations, which leave training mode and come back, lie between the steps."""
    train_vlvae(squares, tmp_path, val_every=1)
    end = last(tmp_path)
    assert any("running_mean" in name for name in learned(end, "model."))
    assert moved(seen["start"], seen["turn"]) == learned(end, "model.")
    assert moved(seen["turn"], end) == learned(end, "densities.")


def test_jmvae_moves_one_density_with_the_model(squares, tmp_path, seen):
    train_vlvae(squares, tmp_path, model={"joint": 1.0})
    end = last(tmp_path)
    both = learned(end, "model.") | learned(end, "densities.aggregate.")
    assert moved(seen["start"], seen["turn"]) == both
    assert moved(seen["turn"], end) == learned(end, "densities.")


@pytest.mark.parametrize(("share", "steps", "turn"), [(0.25, 1, 0), (0.25, 2, 1), (0.01, 8, 7),
                                                      (1.0, 8, 0), (0.25, 8, 6)])  # fmt: skip
def test_stage_two_has_a_step_at_least(squares, share, steps, turn):
    train = open_folder(squares, size=16, progress=False)["train"]
    system = tiny(train, flow_share=share)
    system.clock.last = steps
    assert system.second_stage == turn
    alone = tiny(train, flow_share=0.0, densities=())
    alone.clock.last = steps
    assert alone.second_stage == steps


def stop_at(monkeypatch, step: int) -> None:
    """Stop every training before a step is taken."""
    original = VLVAE.training_step

    def stopping(self, batch, batch_idx):
        if self.global_step == step:
            raise OSError("the power was cut")
        return original(self, batch, batch_idx)

    monkeypatch.setattr(VLVAE, "training_step", stopping)


@pytest.fixture(scope="module")
def uninterrupted(squares, tmp_path_factory):
    run = tmp_path_factory.mktemp("runs") / "whole"
    return run, train_vlvae(squares, run, checkpoint_every=3, val_every=2)


@pytest.mark.parametrize(("stop", "found"), [(3, 3), (5, 3), (7, 6)])
def test_a_training_that_was_stopped_ends_the_same(
    squares, tmp_path, uninterrupted, stop, found, capsys
):
    """In stage one, in stage two with a checkpoint of stage one, and in stage two: the turn is 4."""
    whole, metrics = uninterrupted
    with pytest.MonkeyPatch.context() as patch, pytest.raises(OSError, match="power"):
        stop_at(patch, stop)
        train_vlvae(squares, tmp_path, checkpoint_every=3, val_every=2)
    assert not Run(tmp_path).finished
    again = train_vlvae(squares, tmp_path, checkpoint_every=3, val_every=2)
    assert f"Going on from step {found} of 8." in capsys.readouterr().err
    mine, theirs = checkpoints(tmp_path)[-1], checkpoints(whole)[-1]
    assert mine["global_step"] == theirs["global_step"] == 8
    assert not moved(mine["state_dict"], theirs["state_dict"])
    moments = [state["optimizer_states"][0]["state"] for state in (mine, theirs)]
    assert moments[0].keys() == moments[1].keys()
    for place, kept in moments[0].items():
        assert all(torch.equal(kept[name], moments[1][place][name]) for name in kept)
    assert not moved(Run(tmp_path).weights(), Run(whole).weights())
    assert again["scores"] == metrics["scores"]
    assert again["curves"] == metrics["curves"]


def test_validations_of_stage_one_have_nothing_to_select_by(uninterrupted):
    _, metrics = uninterrupted
    points = {point["step"]: point for point in metrics["curves"] if "bound" in point}
    assert sorted(points) == [2, 4, 6, 8]
    assert [step for step in points if "log_q" in points[step]] == [6, 8]


def test_the_weights_of_the_best_log_q_are_kept(squares, tmp_path, monkeypatch):
    """The first of two that are as good; and none before stage two, however good."""
    log_q = {5: -5.0, 6: -3.0, 7: -4.0, 8: -3.0}
    seen: dict[int, State] = {}
    kept: list[int] = []
    validate = VLVAE.validate

    def validating(self, dataset):
        step = self.global_step
        seen[step] = copied(self)
        if (tmp_path / "model.safetensors").exists():
            kept.append(step)
        found = validate(self, dataset)
        return found | {"log_q": log_q[step]} if "log_q" in found else found

    monkeypatch.setattr(VLVAE, "validate", validating)
    metrics = train_vlvae(squares, tmp_path, val_every=1)
    assert sorted(seen) == list(range(1, 9))
    assert kept == [6, 7, 8]  # the first were those of step 5
    assert metrics["selected"]["step"] == 6
    assert metrics["selected"]["log_q"] == -3
    assert not moved(Run(tmp_path).weights(), seen[6])
    assert moved(Run(tmp_path).weights(), seen[8])


@pytest.mark.parametrize(
    ("densities", "monitor"),
    [((), "bound"), (("true", "prior"), "log_py_true"), (("prior",), "log_px_aggregate")],
)
def test_what_else_may_select(squares, tmp_path, densities, monitor):
    """Without q_agg another density's own bound, and without any the joint model's."""
    share = 0.5 if densities else 0.0
    model = {"densities": densities, "flow_share": share}
    metrics = train_vlvae(squares, tmp_path, model=model, max_steps=4, val_every=1)
    assert metrics["monitor"] == monitor
    points = [point["step"] for point in metrics["curves"] if monitor in point]
    assert points == ([3, 4] if densities else [1, 2, 3, 4])
    assert metrics["selected"][monitor] == max(
        point[monitor] for point in metrics["curves"] if monitor in point
    )


def test_resident_examples_train_the_same_weights(squares, tmp_path, uninterrupted):
    train_vlvae(squares, tmp_path, checkpoint_every=3, val_every=2, resident=True)
    assert not moved(last(tmp_path), last(uninterrupted[0]))


def test_both_stages_train_in_bf16(squares, tmp_path):
    metrics = train_vlvae(squares, tmp_path, max_steps=2, precision="bf16")
    assert {value.dtype for value in last(tmp_path).values()} == {torch.float32, torch.int64}
    assert metrics["scores"]["val"]["log_q"] < 0


@dataclasses.dataclass
class Named:
    """A system that says how its processes are to work together."""

    strategy: str = System.strategy
    automatic_optimization: bool = True


@pytest.mark.parametrize(
    ("system", "devices", "expected"),
    [(Named(VLVAE.strategy), 2, VLVAE.strategy), (Named(), 2, "ddp"), (Named("ddp"), 1, "auto")],
)
def test_a_system_may_name_its_strategy(tmp_path, monkeypatch, system, devices, expected):
    told = {}
    monkeypatch.setattr(
        "polymodal.training.fitting.Trainer", lambda **options: told.update(options)
    )
    make_trainer(Training(devices=devices), tmp_path, [], system)
    assert told["strategy"] == expected


@pytest.mark.slow
def test_two_processes_train_both_stages(squares, tmp_path):
    """Either stage leaves half of the parameters without a gradient, which plain DDP refuses."""
    flags = [part for name, value in TINY.items()
             for part in (f"--{name.replace('_', '-')}", str(value))]  # fmt: skip
    command = ["train", "vlvae", "--data", f"folder:{squares},size=16", "--run", str(tmp_path)]
    short = ["--max-steps", "6", "--batch-size", "8", "--flow-share", "0.5", "--devices", "2",
             "--checkpoint-every", "1", "--accelerator", "cpu"]  # fmt: skip
    status, printed = polymodal(*command, *flags, *short)
    assert status == 0, printed
    assert Run(tmp_path).finished
    before, after = (found["state_dict"] for found in checkpoints(tmp_path))  # steps 5 and 6
    assert moved(before, after) == learned(after, "densities.")


@pytest.mark.parametrize("step", [1, 5])
def test_a_loss_that_is_no_number_stops_either_stage(squares, tmp_path, monkeypatch, step):
    original = VLVAE.training_step

    def failing(self, batch, batch_idx):
        found = original(self, batch, batch_idx)
        return {k: v * torch.nan for k, v in found.items()} if self.global_step == step else found

    monkeypatch.setattr(VLVAE, "training_step", failing)
    with pytest.raises(PolymodalError, match=f"loss became nan at step {step + 1}"):
        train_vlvae(squares, tmp_path)


@pytest.mark.parametrize("split", ["val", "test"])
@pytest.mark.parametrize(
    ("text", "flaw"), [("a mauve square", "Unknown word 'mauve'"), ("a " * 99, "has 99 words")]
)
def test_a_text_that_it_cannot_be_asked_about_is_found_before_it_learns(
    squares, tmp_path, split, text, flaw
):
    """Not by the scores at the end, when all training is done."""
    copy = tmp_path / "squares"
    shutil.copytree(squares, copy)
    table = copy / "captions.csv"
    lines = table.read_text().splitlines()
    own = next(i for i, line in enumerate(lines) if line.endswith(f",{split}"))
    lines[own] = f"{lines[own].split(',')[0]},{text.strip()},{split}"
    table.write_text("\n".join(lines) + "\n")
    with pytest.raises(
        PolymodalError, match=f"In the split '{split}': .*{flaw}.*leave that record"
    ):
        train_vlvae(copy, tmp_path / "run")
    assert not list((tmp_path / "run").glob("*.safetensors"))


def test_pictures_of_another_size_are_refused_with_the_right_one(squares, tmp_path):
    train_vlvae(squares, tmp_path, max_steps=2)
    with pytest.raises(PolymodalError, match=r"are 24×24, but .* on 16×16.*folder:PATH,size=16"):
        jobs.evaluate(tmp_path, "val", data=f"folder:{squares},size=24")


def test_a_run_is_scored_on_val_where_there_is_no_test(tmp_path):
    data = "two-objects,size=16,train=16,val=8"
    jobs.train("vlvae", Config(**TINY), Training(max_steps=2, batch_size=4, accelerator="cpu"),
               data=data, run=tmp_path)  # fmt: skip
    assert list(jobs.evaluate(tmp_path)["scores"]) == ["val"]
    with pytest.raises(
        PolymodalError, match=r"no split 'test', only train, val\. Give one of them"
    ):
        jobs.evaluate(tmp_path, "test")


def test_stage_two_alone_needs_a_model(squares, tmp_path):
    with pytest.raises(PolymodalError, match="needs a trained model: name its run with --init"):
        train_vlvae(squares, tmp_path, model={"flow_share": 1.0})
