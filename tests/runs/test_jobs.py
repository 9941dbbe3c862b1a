"""Jobs: what a run learns from, and what is kept of it."""

import pytest

from polymodal.base.errors import PolymodalError
from polymodal.runs import jobs
from polymodal.runs.run_folder import Run
from polymodal.systems.retrieval import vse
from polymodal.systems.zeroshot import fc
from polymodal.training.training_config import Training

BIRDS = "birds,size=64,train=70,val=20,test_seen=45,test=30"
TINY = fc.Config(slim=16, dim=16, fit_steps=5)


def trained(run, **how):
    training = Training(max_steps=4, batch_size=16, accelerator="cpu", val_every=1, **how)
    return jobs.train("fc", TINY, training, data=BIRDS, run=run)


def test_a_final_run_learns_from_all_seen_classes_and_keeps_the_last_step(
    tmp_path, capsys, monkeypatch
):
    kept, keep = [], Run.keep
    monkeypatch.setattr(
        Run, "keep", lambda run, system: (kept.append(system.global_step), keep(run, system))
    )
    metrics = trained(tmp_path, final=True)
    assert kept == [4]
    assert set(metrics["scores"]) == {"test_seen", "test"}
    assert metrics["selected"]["step"] == 4
    assert not any("zsl_top1" in point for point in metrics["curves"])
    assert metrics["protocol"]["selection"] == "none: the last step, of train and val together"
    assert Run(tmp_path).weights()["known"].sum() == 45
    assert metrics["scores"]["test_seen"]["classes_learned"] == 100
    assert metrics["scores"]["test"]["classes_learned"] == 0
    assert "Last at step 4. All scores" in capsys.readouterr().err
    found = metrics["scores"]["test"]
    assert found["gzsl_seen"] == metrics["scores"]["test_seen"]["top1_among_all"]
    assert found["gzsl_unseen"] == found["top1_among_all"]


def test_otherwise_validation_classes_select(tmp_path):
    metrics = trained(tmp_path)
    assert set(metrics["scores"]) == {
        "val",
        "test_seen",
        "test",
    }  # trainval has what it learned from
    assert [point["step"] for point in metrics["curves"] if "zsl_top1" in point] == [1, 2, 3, 4]
    best = max(point["zsl_top1"] for point in metrics["curves"])
    assert metrics["selected"]["zsl_top1"] == best == metrics["scores"]["val"]["zsl_top1"]
    assert metrics["protocol"]["selection"] == "best zsl_top1 on val"
    assert Run(tmp_path).weights()["known"].sum() == 35
    assert "gzsl_harmonic" not in metrics["scores"]["test"]  # test_seen has classes of val too


def test_final_needs_data_with_such_a_split(squares, tmp_path):
    training = Training(max_steps=1, batch_size=2, accelerator="cpu", final=True)
    with pytest.raises(
        PolymodalError,
        match=r"has no split 'trainval', only .*--final both together\. Give .*, or leave out --final\.",
    ):
        jobs.train(
            "vse",
            vse.Config(),
            training,
            data=f"folder:{squares},size=16",
            run=tmp_path,
        )


def test_recording_without_a_gpu_is_said_once(tmp_path, capsys):
    trained(tmp_path / "a", final=True, record=True)
    assert capsys.readouterr().err.count("--record does nothing here: it needs a GPU") == 1
    trained(tmp_path / "b", final=True)
    assert "--record" not in capsys.readouterr().err
