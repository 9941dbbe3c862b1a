"""Whatever writes a folder refuses one that another process writes, or waits for it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from polymodal.base.errors import PolymodalError
from polymodal.base.locks import writing
from polymodal.cli import main
from polymodal.data.drawn.scenes import draw, named
from polymodal.data.writing import write_pictures
from polymodal.nn.regions import describe
from polymodal.runs import jobs
from polymodal.runs.feature_building import compute_features
from polymodal.runs.index_building import index_run
from polymodal.runs.region_building import compute_regions
from toys import start, train_squares, write_squares

BLACK = np.zeros((8, 8, 3), np.uint8)


@pytest.fixture(scope="module")
def squares(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_squares(tmp_path_factory.mktemp("squares"))


@pytest.fixture(scope="module")
def run(squares: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "a"
    train_squares(squares, folder)
    return folder


@pytest.mark.parametrize(
    "write",
    [
        lambda squares, run, out: train_squares(squares, out),
        lambda squares, run, out: compute_features(
            f"folder:{squares},size=32", out, "efficientnet-lite0"
        ),
        lambda squares, run, out: compute_regions(
            f"folder:{squares},size=32", out, describe(finder="windows", count=2)
        ),
        lambda squares, run, out: index_run(run, out),
        lambda squares, run, out: draw(
            named("scenes", train=2, val=1, test=1, size=16), out, progress=False
        ),
        lambda squares, run, out: write_pictures(out, [("a.png", BLACK, ["black"])]),
    ],
    ids=["train", "features", "regions", "index", "draw", "pictures"],
)
def test_a_folder_has_one_writer(
    write: Callable[[Path, Path, Path], None], squares: Path, run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with writing(out), pytest.raises(PolymodalError, match="out is being written by process"):
        write(squares, run, out)
    assert not list(out.iterdir())
    write(squares, run, out)
    assert list(out.iterdir())
    assert not list(out.glob(".lock"))


@pytest.mark.slow
def test_of_two_trainings_at_once_one_is_refused_and_the_other_is_whole(
    squares: Path, tmp_path: Path
) -> None:
    command = ["train", "vse", "--data", f"folder:{squares},size=32", "--run", str(tmp_path / "a"),
               "--max-steps", "30", "--batch-size", "8", "--embed-dim", "16", "--hidden", "16",
               "--word-dim", "8", "--convnet-width", "8", "--accelerator", "cpu"]  # fmt: skip
    processes = [start(*command, "--seed", seed) for seed in "12"]
    ends = [process.communicate()[0] for process in processes]
    statuses = [process.returncode for process in processes]
    assert sorted(statuses) == [0, 1], ends
    winner, refused = statuses.index(0), ends[statuses.index(1)]
    assert "being written by process" in refused or "begun with other settings" in refused
    assert jobs.Run(tmp_path / "a").config["training"]["seed"] == winner + 1
    assert f"seed: {winner + 1}" in (tmp_path / "a" / "card.md").read_text()


def test_pictures_do_not_join_those_of_another(tmp_path: Path) -> None:
    pictures = [("a.png", BLACK, ["black"])]
    write_pictures(tmp_path / "out", pictures)
    with pytest.raises(PolymodalError, match="out is there already, and not empty"):
        write_pictures(tmp_path / "out", pictures)


def test_export_into_a_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert main(["data", "export", "birds", "--out", str(tmp_path / "file")]) == 1
    assert "file is a file" in capsys.readouterr().err
