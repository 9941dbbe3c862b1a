"""`polymodal diagnose`: a run, several, a backbone; and what it is told of its data."""

import json
from pathlib import Path

import pytest
import torch

from backbones import write_model
from polymodal.base.tables import Table
from polymodal.cli import main
from polymodal.diagnosis.encoder_opening import untrained
from polymodal.runs import jobs
from polymodal.runs.loading import load
from polymodal.systems.zeroshot import fc
from polymodal.training.training_config import Training
from toys import flat, train_squares

DATA = "birds,size=32,train=70,val=20,test=30,test_seen=45"
QUICK = ["--pairs", "60", "--steps", "4"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "fc"
    training = Training(max_steps=2, batch_size=16, accelerator="cpu")
    jobs.train("fc", fc.Config(dim=16, slim=16, crop=1.0), training, data=DATA, run=folder)
    return folder


def test_a_run_on_its_own_data(run, tmp_path, capsys):
    assert main(["diagnose", str(run), "--out", str(tmp_path), *QUICK]) == 0
    told = capsys.readouterr()
    assert f"Wrote {tmp_path}/report.html." in flat(told.err)
    for name in ("tre_ratio", "parts_f1", "ratio_r_ssim", "zsl_top1"):
        assert name in told.out
    found = json.loads((tmp_path / "diagnosis.json").read_text())
    assert found["name"] == "fc"
    assert found["protocol"]["data"] == DATA
    assert found["protocol"]["measured on"]["images"] == 30
    assert {path.name for path in tmp_path.iterdir()} == {
        "diagnosis.json", "report.html", "heatmaps.png",
    }  # fmt: skip


def test_each_has_a_folder_of_its_own_unless_told_otherwise(run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    quick = ["--measures", "zeroshot", *QUICK]
    for name in ("first", "second"):
        Path(name).symlink_to(run)
        assert main(["diagnose", name, *quick]) == 0
        assert f"Wrote diagnosis/{name}/report.html." in flat(capsys.readouterr().err)
    assert main(["diagnose", "first", "second", *quick]) == 0
    assert {path.name for path in Path("diagnosis").iterdir()} == {
        "first", "second", "comparison.html", "comparison.json",
    }  # fmt: skip


def test_several_are_compared(run, tmp_path, capsys):
    model, other = write_model(tmp_path / "dino", "dinov2"), tmp_path / "other/fc"
    training = Training(max_steps=60, batch_size=16, accelerator="cpu")  # enough for another score
    jobs.train("fc", fc.Config(dim=64, slim=8, crop=1.0, lr=3e-3), training, data=DATA, run=other)
    out = tmp_path / "out"
    given = ["diagnose", str(run), str(model), str(other), "--measures", "zeroshot", "tre"]
    assert main([*given, "--out", str(out), *QUICK]) == 0
    assert f"Wrote {out}/comparison.html." in flat(capsys.readouterr().err)
    assert {path.name for path in out.iterdir() if path.is_dir()} == {"fc", "dino", "fc-2"}
    found = json.loads((out / "comparison.json").read_text())
    assert found["against zsl_top1"].keys() == {"tre_ratio"}
    assert not (out / "fc/heatmaps.png").exists()


def test_a_comparison_is_written_before_anything_is_printed(run, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Table, "print", lambda *_, **__: pytest.fail("printed first"))
    (tmp_path / "again").symlink_to(run)
    given = ["diagnose", str(run), str(tmp_path / "again"), "--measures", "zeroshot", *QUICK]
    with pytest.raises(pytest.fail.Exception, match="printed first"):
        main([*given, "--out", str(tmp_path / "out")])
    assert (tmp_path / "out/comparison.html").is_file()


def test_what_was_cut_is_told_above_the_table(run, tmp_path, capsys):
    given = ["diagnose", str(run), "--measures", "tre", "--out", str(tmp_path)]
    assert main([*given, "--images", "40"]) == 0
    told = capsys.readouterr()
    cut = "fitted to 40 of 70 images; TRE ratios fall with fewer: compare equal counts only"
    assert told.out.splitlines()[0] == f"Measured on {DATA}, {cut}"
    assert f"fc: {cut}." in flat(told.err)
    assert main(given) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"Measured on {DATA}"


def test_a_run_beside_its_untrained_architecture(run, tmp_path, capsys):
    given = ["diagnose", str(run), "--untrained", "--measures", "tre", "--out", str(tmp_path)]
    assert main(given) == 0
    assert "fc, untrained" in capsys.readouterr().out
    trained, fresh = json.loads((tmp_path / "comparison.json").read_text())["encoders"]
    assert (trained["name"], fresh["name"]) == ("fc", "fc, untrained")
    assert fresh["protocol"]["encoder"] == "fc, untrained"
    assert fresh["protocol"]["features"] == trained["protocol"]["features"]
    assert fresh["metrics"]["tre"] != trained["metrics"]["tre"]


def test_an_untrained_architecture_is_the_same_every_time(run):
    first, again = (untrained(run, "cpu").state_dict() for _ in range(2))
    assert all(torch.equal(first[name], again[name]) for name in first)
    learned = load(run).state_dict()
    assert any(not torch.equal(first[name], learned[name]) for name in first)


def test_what_is_left_out_is_told(tmp_path, squares, capsys):
    model = write_model(tmp_path / "clip", "clip")
    given = ["diagnose", str(model), "--data", f"folder:{squares},size=32"]
    assert main([*given, "--out", str(tmp_path / "out"), *QUICK]) == 0
    told = flat(capsys.readouterr().err)
    assert "tre was not measured: the images have no classes with attributes." in told
    assert "parts was not measured: it is not known where the images have their parts." in told
    assert main([*given, "--measures", "parts"]) == 1
    assert "These data cannot be measured so. parts: it is not known" in capsys.readouterr().err


def test_mistakes(run, tmp_path, squares, capsys):
    other = tmp_path / "vse"
    train_squares(squares, other)
    model = str(write_model(tmp_path / "dino", "dinov2"))
    (tmp_path / "file").touch()
    neither = "is neither a run (no config.yaml) nor a transformers model (no config.json)"
    for given, message in (
        ([], "Name a run, or the folder of a transformers model"),
        ([str(tmp_path / "nothing")], "nothing is no run: there is no such directory"),
        ([str(run), str(tmp_path)], f"{tmp_path} {neither}"),
        ([str(tmp_path / "file")], neither),
        ([model], "Say with --data what to measure on: no run is named that has any"),
        ([model, "--untrained"], "builds the architecture of a run anew; found none among"),
        ([str(run), str(other)], "Say with --data what to measure on: the runs have birds,size=32"),
        ([str(other), "--untrained"], "is a run of vse, which has no map of local features"),
        ([str(other)], "is a run of vse, which has no map of local features"),
        (
            [str(run), "--data", "birds,size=48,train=70"],
            "takes pictures of 32×32, but the data are",
        ),
        ([str(run), "--test", "tset"], "have no split 'tset', only train, val"),
        ([str(run), "--images", "1"], "images must be 2 or more, not 1"),
        (
            [str(run), "--out", str(tmp_path / "file")],
            f"{tmp_path / 'file'} is a file. Name another",
        ),
        (
            [str(run), "--out", str(tmp_path / "file/in")],
            f"{tmp_path / 'file'} is a file. Name another",
        ),
    ):
        capsys.readouterr()
        assert main(["diagnose", *given]) == 1
        assert message in capsys.readouterr().err
