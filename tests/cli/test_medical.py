"""`polymodal segment` and `classify` as people give them."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import polymodal
from polymodal.cli import main
from polymodal.data.formats.volumes import write_volume
from polymodal.data.scan_files import read_scan, write_labels
from polymodal.data.scan_sizes import restored
from polymodal.data.sources import open_splits
from polymodal.runs import jobs
from polymodal.systems.medical import cmim, findings
from polymodal.training.training_config import Training
from polymodal.views.subset_heatmap import HEAD, HIGH
from scans import scan_splits, scans
from toys import flat
from xrays import xray_splits, xrays

TRAINING = Training(accelerator="cpu", max_steps=3, batch_size=6, val_every=3)
SMALL = {"width": 8, "levels": 2, "critic_hidden": 8}


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for name, dims, side in (("planes", 2, 16), ("volumes", 3, 8)):
        splits = scan_splits(count=30, dims=dims, side=side)
        jobs.train("cmim", cmim.Config(**SMALL), TRAINING, data="scans", run=folder / name,
                   opening=lambda data, splits=splits, **how: splits)  # fmt: skip
    config = findings.Config(convnet_width=8, text_width=8, critic_hidden=8)
    jobs.train("findings", config, TRAINING, data="xrays", run=folder / "xrays",
               opening=lambda data, **how: xray_splits(count=30))  # fmt: skip
    return {name: folder / name for name in ("planes", "volumes", "xrays")}


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    scan = scans(3)[0]
    for name in ("flair", "t1"):
        grey = np.clip(25 * scan[name][0], 0, 255).astype(np.uint8)
        Image.fromarray(grey).save(f"{name}.png")
    return tmp_path


def test_a_slice_is_segmented_from_what_is_there(runs, here, capsys) -> None:
    run = str(runs["planes"])
    for files in (["--flair", "flair.png"], ["--flair", "flair.png", "--scan", "t1=t1.png"]):
        arguments = ["segment", run, *files, "--out", "found.png", "--overlay", "look.png"]
        assert main(arguments) == 0
        model = polymodal.load(runs["planes"])
        names = ("flair", "t1")[: len(files) // 2]
        found = model.segment({name: f"{name}.png" for name in names})
        assert read_scan("found.png").values.tolist() == found.labels.tolist()
        captured = capsys.readouterr()
        told = flat(captured.out)
        assert "not a medical device" in flat(captured.err)
        assert f"background {(found.labels == 0).sum()}" in told
        with Image.open("look.png") as look:
            assert look.size == (2 * 384 + 8, 384 + 32)


@pytest.mark.parametrize("standardise", ["scan", "data"])
def test_a_slice_from_its_file_is_that_of_the_dataset(tmp_path, monkeypatch, standardise) -> None:
    """Files of 8 bits with the modalities as channels, as in lgg-128.zip, and of 16 bits each."""
    monkeypatch.chdir(tmp_path)
    data = scans(24)
    for row in range(24):
        home, apart = (tmp_path / kind / f"p{row % 6}" for kind in ("channels", "files"))
        home.mkdir(parents=True, exist_ok=True)
        apart.mkdir(parents=True, exist_ok=True)
        grey = [np.clip(25 * data[row][name][0], 0, 255) for name in ("flair", "t1")]
        pixels = np.stack([*grey, grey[0]], -1).astype(np.uint8)
        Image.fromarray(pixels).save(home / f"{row}.png")
        for name, own in zip(("flair", "t1"), grey, strict=True):
            Image.fromarray((own * 200).astype(np.uint16)).save(apart / f"{row}_{name}.png")
        for folder in (home, apart):
            Image.fromarray(data[row]["mask"]).save(folder / f"{row}_mask.png")
    for how in ("channels=flair+t1+t2", "files=flair+t1"):
        kind = how.partition("=")[0]
        home = tmp_path / f"run-{kind}"
        config = cmim.Config(**SMALL, standardise=standardise, modalities=("t1", "flair"))
        jobs.train("cmim", config, TRAINING, data=f"slices:{kind},{how}", run=home)
        model = polymodal.load(home)
        one = open_splits(f"slices:{kind},{how}")["test"][0]
        file = f"{kind}/{one.id}.png" if kind == "channels" else f"{kind}/{one.id}_t1.png"
        by_file, by_dataset = model.segment({"t1": file}), model.segment({"t1": one["t1"]})
        assert by_file.chances.tolist() == by_dataset.chances.tolist()
        raw = np.asarray(Image.open(file), np.float32).reshape(16, 16, -1)[
            ..., 1 if kind == "channels" else 0
        ]
        other = model.segment({"t1": raw[None]}).chances  # what the file's own numbers would give
        assert np.allclose(other, by_dataset.chances, atol=1e-4) == (standardise == "scan")
        assert main(["segment", str(home), "--t1", file, "--out", "a.png"]) == 0
        assert read_scan("a.png").values.tolist() == by_dataset.labels.tolist()


def test_files_of_another_size_are_made_as_the_reader_made_them(
    tmp_path, monkeypatch, capsys
) -> None:
    """Slices of 24×20 pixels, trained on at 16: what the model sees of a file is what it saw then."""
    monkeypatch.chdir(tmp_path)
    data = scans(12, side=24)
    for row in range(12):
        home = tmp_path / "wide" / f"p{row % 6}"
        home.mkdir(parents=True, exist_ok=True)
        pixels = np.stack(
            [np.clip(25 * data[row][n][0], 0, 255) for n in ("flair", "t1", "t1")], -1
        )
        Image.fromarray(pixels.astype(np.uint8)[:, :20]).save(home / f"{row}.png")
        Image.fromarray(data[row]["mask"][:, :20]).save(home / f"{row}_mask.png")
    name = "slices:wide,channels=flair+t1+t2,size=16"
    config = cmim.Config(**SMALL, standardise="data", modalities=("flair", "t1"), patch=8)
    jobs.train("cmim", config, TRAINING, data=name, run=tmp_path / "run")
    model = polymodal.load(tmp_path / "run")
    one = open_splits(name)["test"][0]
    file = f"wide/{one.id}.png"
    assert model.read({"t1": file}).values["t1"][0].tolist() == one["t1"].tolist()
    small = model.segment({"t1": one["t1"]}).chances
    found = model.segment({"t1": file})
    assert found.labels.shape == (24, 20) and found.resized == (16, 16)
    assert found.chances.tolist() == restored(small, (24, 20)).tolist()
    given = ["segment", "run", "--t1", file, "--out", "a.png", "--overlay", "look.png"]
    assert main(given) == 0
    assert "Slices were brought to 16×16, as those of the training" in flat(capsys.readouterr().err)
    assert read_scan("a.png").values.tolist() == found.labels.tolist()
    with Image.open("look.png") as look:
        assert look.size == (2 * 320 + 8, 384 + 32)  # each pixel of the file 16 times as large
    assert main([*given, "--as-is"]) == 0
    assert "brought to" not in capsys.readouterr().err
    kept = model.segment({"t1": file}, as_is=True)
    assert read_scan("a.png").values.tolist() == kept.labels.tolist()


@pytest.mark.parametrize("axis", [None, "0", "1"])
def test_a_volume_is_segmented_by_a_model_of_slices(runs, here, capsys, axis) -> None:
    pytest.importorskip("nibabel")
    affine = np.array([[0, 2, 0, 5], [1, 0, 0, 6], [0, 0, 3, 7], [0, 0, 0, 1.0]])
    scan = np.clip(20 * scans(3, dims=3, side=18)[0]["flair"][0], 0, 255).astype(np.uint8)
    volume = scan[:10, :14]  # planes, rows, columns
    write_labels(here / "flair.nii.gz", volume, affine)
    arguments = ["--flair", "flair.nii.gz", "--out", "a.nii.gz", "--overlay", "a.png"]
    given = [] if axis is None else ["--axis", axis]
    assert main(["segment", str(runs["planes"]), *arguments, *given]) == 0
    found = read_scan(here / "a.nii.gz")
    assert found.values.shape == volume.shape and found.affine.tolist() == affine.tolist()
    along = 0 if axis is None else 2 - int(axis)
    model = polymodal.load(runs["planes"])
    # 28 mm from left to right, 18 mm from front to back, 30 mm from top to bottom
    with Image.open("a.png") as look:
        width, height = {None: (28, 18), "0": (28, 30), "1": (18, 30)}[axis]
        assert (look.width - 8) / 2 / (look.height - 32) == pytest.approx(width / height, rel=0.01)
    for place in (0, 7):
        alone = model.segment({"flair": volume.take(place, along)}).labels
        assert found.values.take(place, along).tolist() == alone.tolist()


@pytest.mark.parametrize("standardise", ["scan", "data"])
def test_a_model_of_planes_of_volumes_sees_in_a_volume_what_it_learned_from(
    tmp_path, monkeypatch, capsys, standardise
) -> None:
    """Planes of BraTS, cropped in training: those of a file keep their size, and its brightness is one."""
    pytest.importorskip("nibabel")
    monkeypatch.chdir(tmp_path)
    heads = scans(12, dims=3, side=12, names=("flair", "t1"))
    for row in range(12):
        home = tmp_path / "brats" / f"BraTS20_Training_{row:03d}"
        home.mkdir(parents=True)
        for name in ("flair", "t1"):
            values = np.clip(100 * heads[row][name][0], 0, 2000).astype(np.int16)
            write_volume(home / f"{home.name}_{name}.nii.gz", values, np.eye(4))
        write_volume(home / f"{home.name}_seg.nii.gz", heads[row]["mask"], np.eye(4))
    config = cmim.Config(**SMALL, standardise=standardise)
    for crop, name in (("", "whole"), (",crop=12x8x8", "cropped")):
        data = f"brats:brats,slices=3,partial=yes{crop}"
        jobs.train("cmim", config, TRAINING, data=data, run=tmp_path / name)
        plane = open_splits(data)["test"][0]  # the plane 2 of 12
        patient = plane.id.partition("/")[0]
        file = f"brats/{patient}/{patient}_flair.nii.gz"
        model = polymodal.load(tmp_path / name)
        found = model.segment({"flair": file})
        assert found.labels.shape == (12, 12, 12) and found.resized is None
        if not crop:
            own = model.segment({"flair": plane["flair"]}).chances
            np.testing.assert_allclose(found.chances[:, 2], own, atol=5e-3)  # kept as float16
        assert main(["segment", name, "--flair", file, "--out", f"{name}.nii.gz"]) == 0
        assert "brought to" not in capsys.readouterr().err
        assert read_scan(f"{name}.nii.gz").values.tolist() == found.labels.tolist()


def test_an_array_gives_an_array(runs, here, capsys) -> None:
    scan = scans(3, dims=3, side=8)[0]["flair"][0]
    np.save("flair.npy", scan)
    run = str(runs["volumes"])
    assert main(["segment", run, "--flair", "flair.npy", "--out", "a.npy"]) == 0
    labels = polymodal.load(runs["volumes"]).segment({"flair": scan}).labels
    assert read_scan("a.npy").values.tolist() == labels.tolist()
    assert main(["segment", run, "--flair", "flair.npy", "--out", "a.png"]) == 1
    assert "The labels of an array are written as .npy" in flat(capsys.readouterr().err)


def test_drawn_scans_and_files_share_no_scale(tmp_path, here, capsys) -> None:
    splits = scan_splits(count=30)
    config = cmim.Config(**SMALL, standardise="data")
    jobs.train("cmim", config, TRAINING, data="scans", run=tmp_path / "r",
               opening=lambda data, **how: splits)  # fmt: skip
    assert main(["segment", str(tmp_path / "r"), "--t1", "t1.png", "--out", "a.png"]) == 1
    assert "with --standardise data it matters" in flat(capsys.readouterr().err)


def test_every_subset_has_a_row(runs, monkeypatch, capsys) -> None:
    splits = scan_splits(count=30)
    monkeypatch.setattr(jobs, "open_data", lambda data, **how: splits)
    assert main(["evaluate", str(runs["planes"]), "--out", str(runs["planes"] / "a.json")]) == 0
    told = flat(capsys.readouterr().out.replace("┃", "│"))
    scores = jobs.evaluate(runs["planes"])["scores"]["test"]
    assert "flair t1 Dice sensitivity HD95" in told
    for dots, name in (("● ○", "flair"), ("○ ●", "t1"), ("● ●", "flair+t1")):
        dice, spread = scores[f"dice_{name}"], scores[f"dice_{name}_spread"]
        beside = f"{scores[f'sensitivity_{name}']:.1f} {scores[f'hd95_{name}']:.1f}"
        assert f"{dots} {dice:.1f} ± {spread:.1f} {beside}" in told


def test_one_subset_has_one_row_and_a_picture(runs, tmp_path, monkeypatch, capsys) -> None:
    splits = scan_splits(count=30)
    monkeypatch.setattr(jobs, "open_data", lambda data, **how: splits)
    run, picture = str(runs["planes"]), tmp_path / "a.png"
    whole = jobs.evaluate(runs["planes"])["scores"]["test"]
    for asked, dots in (("t1", "○ ●"), ("t1+flair", "● ●")):
        arguments = ["evaluate", run, "--modalities", asked, "--heatmap", str(picture)]
        assert main(arguments) == 0
        told = flat(capsys.readouterr().out.replace("┃", "│"))
        assert dots in told and "● ○" not in told
        name = "+".join(sorted(asked.split("+")))
        one = jobs.evaluate(runs["planes"], modalities=asked)["scores"]["test"]
        assert one == {n: s for n, s in whole.items() if n in one}
        assert f"dice_{name}" in one and "dice_mean" not in one
        assert len(read_scan(picture).values) == HEAD + HIGH + 56
    assert main(["evaluate", run, "--heatmap", str(picture)]) == 0
    assert len(read_scan(picture).values) == HEAD + 3 * HIGH + 56


@pytest.mark.parametrize(
    ("which", "arguments", "message"),
    [
        (
            "planes",
            ["--modalities", "t2"],
            "--modalities names 't2', but this model knows flair, t1",
        ),
        ("planes", ["--modalities", "t1+t1"], "some of them, each once, such as flair+t1"),
        ("planes", ["--heatmap", "a.pdf"], "The heat map is a .png, but --heatmap is a.pdf"),
        ("xrays", ["--heatmap", "a.png"], "is a run of findings, which segments nothing"),
        ("xrays", ["--modalities", "text"], "not scored by subsets of modalities: leave out"),
    ],
)
def test_subsets_that_are_not_there_are_refused(
    runs, here, monkeypatch, capsys, which, arguments, message
) -> None:
    splits = scan_splits(count=30) if which == "planes" else xray_splits(count=30)
    monkeypatch.setattr(jobs, "open_data", lambda data, **how: splits)
    assert main(["evaluate", str(runs[which]), *arguments]) == 1
    assert message in flat(capsys.readouterr().err)


def test_a_volume_keeps_where_it_lies(runs, here, capsys) -> None:
    pytest.importorskip("nibabel")
    affine = np.diag([1.0, 2, 3, 1]) + np.array([[0, 0, 0, 5.0]] * 3 + [[0] * 4])
    volume = np.clip(20 * scans(3, dims=3, side=8)[0]["flair"][0], 0, 255)
    write_labels(here / "flair.nii.gz", volume.astype(np.uint8), affine)
    arguments = ["segment", str(runs["volumes"]), "--flair", "flair.nii.gz", "--out", "a.nii.gz"]
    assert main([*arguments, "--flips", "--overlay", "a.png"]) == 0
    labels = read_scan(here / "a.nii.gz")
    assert labels.values.shape == (8, 8, 8)
    assert labels.affine.tolist() == affine.tolist()
    write_labels(here / "t1.nii.gz", volume.astype(np.uint8), np.eye(4))
    assert main([*arguments, "--t1", "t1.nii.gz"]) == 1
    assert "their affines differ" in flat(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "a.png"], "Give one modality at least"),
        (["--scan", "flair", "--out", "a.png"], "--scan takes NAME=FILE"),
        (["--flair", "flair.png", "--scan", "flair=t1.png", "--out", "a.png"], "each name once"),
        (["--flair", "flair.png", "--out", "a.nii"], "The labels of a picture are written as .png"),
        (["--t2", "flair.png", "--out", "a.png"], "segments with any of flair, t1; found t2"),
        (["--flair", "none.png", "--out", "a.png"], "There is no scan at none.png"),
    ],
)
def test_what_cannot_be_segmented_is_refused(runs, here, capsys, arguments, message) -> None:
    assert main(["segment", str(runs["planes"]), *arguments]) == 1
    assert message in flat(capsys.readouterr().err)
    assert not (here / "a.png").exists()


def test_findings_are_told_a_line_an_image(runs, here, capsys) -> None:
    Image.fromarray(xrays(2)[0].image).save("xray.png")
    assert main(["classify", str(runs["xrays"]), "xray.png", "--first", "1"]) == 0
    ((found),) = polymodal.load(runs["xrays"]).classify(["xray.png"])
    best = max(found, key=found.get)
    captured = capsys.readouterr()
    metrics = json.loads((runs["xrays"] / "metrics.json").read_text())
    own = metrics["scores"]["val"][f"ece_image_{best}"] / 100
    assert f"xray.png  {best} {found[best]:.2f} (ECE {own:.2f})" in captured.out
    mean = metrics["scores"]["val"]["ece_image"] / 100
    told = flat(captured.err)
    assert "not a medical device. The probabilities were not calibrated" in told
    assert f"on validation they were off by {mean:.2f}" in told
    assert main(["classify", str(runs["xrays"]), "xray.png", "--first", "0"]) == 1
    assert "--first must be 1 or more, not 0" in flat(capsys.readouterr().err)


def test_other_runs_say_what_they_cannot(runs, here, capsys) -> None:
    assert main(["segment", str(runs["xrays"]), "--flair", "flair.png", "--out", "a.png"]) == 1
    assert "a run of findings, which cannot segment" in flat(capsys.readouterr().err)
