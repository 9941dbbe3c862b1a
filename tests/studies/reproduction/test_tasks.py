"""How a row is trained: what a study leaves to whoever makes it."""

from pathlib import Path

import pytest

from polymodal.runs import jobs
from polymodal.studies.reproduction import tasks
from polymodal.studies.reproduction.tasks import Task
from polymodal.studies.study import study_named


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """The training that a task of these fields asks for."""
    told = []
    monkeypatch.setattr(jobs, "train", lambda *given, **how: told.append((given[2], how["run"])))
    monkeypatch.setattr(tasks.Run, "tidy", lambda run: None)

    def ask(**fields):
        recipe = study_named("zeroshot/cub").scales["paper"].rows[0]
        shared = {
            "study": "zeroshot/cub",
            "recipe": recipe,
            "data": "birds",
            "folder": Path("runs"),
        }
        tasks.train(Task(**shared, accelerator="cpu", **fields), recipe)
        return told.pop()

    return ask


def test_a_row_has_its_own_seed_and_is_recorded_on_a_gpu_alone(trained):
    training, _ = trained(seed=3)
    assert (training.seed, training.record, training.compile) == (3, False, False)


def test_what_only_changes_the_speed_changes_no_run(trained):
    plain, compiled = trained(seed=0), trained(seed=0, compile=True)
    assert compiled[0].compile
    assert compiled[1] == plain[1]
