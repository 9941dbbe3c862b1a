"""Regions in a folder: resumed after a kill, refused when they are not of the data at hand."""

import json
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polymodal.base.errors import PolymodalError
from polymodal.base.files import fingerprint
from polymodal.data import region_files
from polymodal.data.columns import Read
from polymodal.data.records import Dataset
from polymodal.data.region_files import open_regions, write_regions
from toys import python

HOW = {"finder": "rows"}


def grey(rows) -> np.ndarray:
    return np.broadcast_to(np.array(rows, np.uint8).reshape(-1, 1, 1, 1), (len(rows), 4, 4, 3))


def split(count: int, name: str) -> Dataset:
    return Dataset({"image": Read(count, grey)}, fingerprint=f"{name}{count}")


def compute(dataset: Dataset, images: range) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """One box in even images, two in odd ones; the vector of the first is the image's number."""
    for start in range(images.start, images.stop, 4):
        rows = np.arange(start, min(start + 4, images.stop))
        boxes = np.zeros((len(rows), 2, 4), np.float32)
        boxes[:, 0, 2:] = 3
        boxes[rows % 2 == 1, 1, 2:] = 1
        features = np.stack([rows, rows % 2], 1).astype(np.float32)[..., None].repeat(3, 2)
        yield boxes, features


@pytest.fixture
def splits() -> dict[str, Dataset]:
    return {"train": split(30, "train"), "test": split(7, "test")}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(region_files, "FOLDER", replace(region_files.FOLDER, rows=8))


def write(folder: Path, splits: dict[str, Dataset], how=HOW, compute=compute, **told) -> None:
    write_regions(splits, compute, folder, how, progress=False, **told)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_columns_are_what_was_computed(tmp_path, splits, dtype) -> None:
    write(tmp_path, splits, dtype=dtype)
    opened = open_regions(tmp_path, splits)
    train, test = opened["train"].columns, opened["test"].columns
    assert train["proposals"].batch([1, 2])[:, 1].tolist() == [[0, 0, 1, 1], [0, 0, 0, 0]]
    features = train["proposal_features"]
    assert features.values.dtype == dtype
    assert features.batch([29, 4])[..., 0].tolist() == [[29, 1], [4, 0]]
    assert (features.encoder, features.dim) == (HOW, 3)
    assert opened["train"].fingerprint == "train30"
    real = [*range(30), *[1] * 15]  # of all boxes that are there
    np.testing.assert_allclose(test["proposal_features"].mean, np.full(3, np.mean(real)), rtol=1e-6)
    np.testing.assert_allclose(test["proposal_features"].std, np.full(3, np.std(real)), rtol=1e-6)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "ids.json", "manifest.json", "statistics.npy", "test-boxes.npy", "test-features.npy",
        "train-boxes.npy", "train-features.npy",
    ]  # fmt: skip


def test_without_training_there_are_no_moments(tmp_path) -> None:
    data = {"val": split(3, "val")}
    write(tmp_path, data)
    with pytest.raises(PolymodalError, match="no training split"):
        _ = open_regions(tmp_path, data)["val"].columns["proposal_features"].mean


KILLED = """
import os, sys
sys.path[:0] = sys.argv[2:]
from dataclasses import replace
from pathlib import Path
import test_region_files as own
def dying(dataset, images):
    for number, batch in enumerate(own.compute(dataset, images)):
        if images.start + 4 * number >= 20:
            os.kill(os.getpid(), 9)
        yield batch
own.region_files.FOLDER = replace(own.region_files.FOLDER, rows=8)
splits = {"train": own.split(30, "train"), "test": own.split(7, "test")}
own.write(Path(sys.argv[1]), splits, compute=dying)
"""


def test_a_killed_call_goes_on_where_it_was(tmp_path, splits) -> None:
    here = Path(__file__).parent
    process = python("-c", KILLED, str(tmp_path), str(here), str(here.parent))
    assert (process.communicate()[0], process.returncode) == ("", -signal.SIGKILL)
    with pytest.raises(PolymodalError, match="no finished regions"):
        open_regions(tmp_path, splits)
    again: list[int] = []

    def noting(dataset, images):
        again.extend(images)
        yield from compute(dataset, images)

    write(tmp_path, splits, compute=noting)
    assert again == [*range(16, 30), *range(7)]
    whole = tmp_path.with_name("whole")
    write(whole, splits)
    for name in ("train-boxes.npy", "train-features.npy", "statistics.npy", "manifest.json"):
        assert (tmp_path / name).read_bytes() == (whole / name).read_bytes()
    again.clear()
    write(tmp_path, splits, compute=noting)
    assert again == []


def test_regions_of_other_data_are_refused(tmp_path, splits) -> None:
    write(tmp_path, splits)
    with pytest.raises(PolymodalError, match="the regions of 'test' are of other data: 7 images"):
        open_regions(tmp_path, {"test": split(8, "test")})
    with pytest.raises(PolymodalError, match="no regions of the split 'val', only of train, test"):
        open_regions(tmp_path, {"val": split(7, "val")})
    with pytest.raises(PolymodalError, match="already holds regions of other data or of another"):
        write(tmp_path, splits, {"finder": "others"})
    with pytest.raises(PolymodalError, match="no finished regions"):
        open_regions(tmp_path / "nowhere", splits)
    with pytest.raises(PolymodalError, match="'val' has no images"):
        write(tmp_path / "new", {"val": split(0, "val")})


def test_damaged_files_are_refused(tmp_path, splits) -> None:
    write(tmp_path, splits)
    path = tmp_path / "test-features.npy"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(PolymodalError, match=r"test-features.npy: not as it was computed"):
        open_regions(tmp_path, splits)
    path.write_bytes(content[:-3])
    with pytest.raises(PolymodalError, match=r"test-features.npy: missing or cut off"):
        open_regions(tmp_path, splits)
    np.save(path, np.zeros((7, 2, 4), np.float16))
    with pytest.raises(PolymodalError, match=r"expected float16 of shape \[7, 2, 3\], found"):
        open_regions(tmp_path, splits)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    bare = {key: value for key, value in manifest.items() if key != "sha256"}
    (tmp_path / "manifest.json").write_text(json.dumps(bare))
    with pytest.raises(PolymodalError, match=r"broken \(no sha256\). Compute the regions again"):
        open_regions(tmp_path, splits)
    (tmp_path / "manifest.json").write_text(json.dumps({**manifest, "format": "other"}))
    with pytest.raises(PolymodalError, match="expected the format 'polymodal regions 1'"):
        open_regions(tmp_path, splits)


@pytest.mark.parametrize(
    ("key", "value"),
    [("encoder", "windows"), ("dtype", 3), ("splits", "train"), ("splits", {"train": None})],
)
def test_a_manifest_of_another_hand_is_refused(tmp_path, splits, key, value) -> None:
    write(tmp_path, splits)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps({**manifest, key: value}))
    with pytest.raises(PolymodalError, match=rf"not as it is written: '{key}'\). Compute the"):
        open_regions(tmp_path, splits)


def test_what_kills_left_half_written_is_swept_away(tmp_path, splits) -> None:
    whole = tmp_path / "whole"
    write(whole, splits)
    expected = sorted(path.name for path in whole.iterdir())
    cut = tmp_path / "cut"
    cut.mkdir()
    (cut / ".train-boxes.npy.abc.part").touch()
    write(cut, splits)
    assert sorted(path.name for path in cut.iterdir()) == expected
    plan = json.loads((cut / "manifest.json").read_text())
    plan = {k: v for k, v in plan.items() if k not in ("regions", "dim", "sha256")}
    (cut / f"parts-{fingerprint(plan)}").mkdir()  # killed before these were deleted
    write(cut, splits)
    assert sorted(path.name for path in cut.iterdir()) == expected


def test_vectors_must_be_finite(tmp_path, splits) -> None:
    def large(dataset, images):
        for boxes, features in compute(dataset, images):
            yield boxes, features * 1e4

    with pytest.raises(PolymodalError, match=r"image 7 of 'train' are not finite in float16"):
        write(tmp_path, splits, compute=large)
