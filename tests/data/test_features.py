"""Features computed once: resumed after a kill, refused when they are not of the data at hand."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polymodal.base import files
from polymodal.base.errors import PolymodalError
from polymodal.data import features
from polymodal.data.columns import Each, Read
from polymodal.data.features import open_features, write_features
from polymodal.data.records import Caption, Dataset


class Grey(Dataset):
    """Image i is of grey i."""

    def __init__(self, count: int, name: str) -> None:
        ids = tuple(f"{name}{i}" for i in range(count))
        columns = {"image": Read(count, self.grey), "captions": Each(count, self.said)}
        super().__init__(columns, ids=ids, fingerprint=files.fingerprint([name, count]))

    def said(self, index: int) -> tuple[Caption, ...]:
        return (Caption(f"grey {index}"),)

    def grey(self, indices: Sequence[int]) -> np.ndarray:
        return np.broadcast_to(
            np.array(indices, np.uint8).reshape(-1, 1, 1, 1), (len(indices), 4, 4, 3)
        )


def mean(images: np.ndarray) -> np.ndarray:
    grey = images.mean((1, 2, 3))
    return np.stack([grey, 2 * grey, np.full_like(grey, 7)], 1)


@pytest.fixture
def splits() -> dict[str, Grey]:
    return {"train": Grey(200, "train"), "test": Grey(30, "test")}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "FOLDER", replace(features.FOLDER, rows=64))


def written(folder: Path, splits: dict[str, Grey], dtype: str = "float16") -> dict[str, Dataset]:
    write_features(splits, mean, folder, "mean", dtype=dtype, progress=False)
    return open_features(folder, splits)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_vectors_are_those_of_the_images(
    tmp_path: Path, splits: dict[str, Grey], dtype: str
) -> None:
    opened = written(tmp_path, splits, dtype)
    train = opened["train"]
    features = train.column("features")
    assert features.batch([199, 3]).tolist() == [[199, 398, 7], [3, 6, 7]]
    assert features.batch([0]).dtype == np.float32
    assert (features.dim, len(train), features.encoder) == (3, 200, "mean")
    assert train.rule.endswith("; features of mean")
    assert train[5].id == "train5"
    assert train.captions(5) == splits["train"].captions(5)
    assert (train.images([5]) == 5).all()
    assert train.fingerprint == splits["train"].fingerprint
    assert opened["test"].column("features").batch(range(30))[:, 0].tolist() == list(range(30))
    assert json.loads((tmp_path / "ids.json").read_text())["test"][2] == "test2"
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "ids.json",
        "manifest.json",
        "statistics.npy",
        "test.npy",
        "train.npy",
    ]


def test_statistics_are_of_the_training_split(tmp_path: Path, splits: dict[str, Grey]) -> None:
    test = written(tmp_path, splits)["test"].column("features")
    grey = np.arange(200.0)
    np.testing.assert_allclose(test.mean, [grey.mean(), 2 * grey.mean(), 7])
    np.testing.assert_allclose(test.std, [grey.std(), 2 * grey.std(), 1], rtol=1e-6)


def test_without_training_there_are_none(tmp_path: Path) -> None:
    test = written(tmp_path, {"test": Grey(3, "test")})["test"].column("features")
    with pytest.raises(PolymodalError, match="no training split"):
        _ = test.mean


def test_a_killed_call_goes_on_where_it_was(tmp_path: Path, splits: dict[str, Grey]) -> None:
    seen: list[int] = []

    def failing(images: np.ndarray) -> np.ndarray:
        if len(seen) + len(images) > 150:
            raise KeyboardInterrupt
        seen.extend(images[:, 0, 0, 0].tolist())
        return mean(images)

    with pytest.raises(KeyboardInterrupt):
        write_features(splits, failing, tmp_path, "mean", progress=False)
    with pytest.raises(PolymodalError, match="no finished features"):
        open_features(tmp_path, splits)
    again: list[int] = []

    def noting(images: np.ndarray) -> np.ndarray:
        again.extend(images[:, 0, 0, 0].tolist())
        return mean(images)

    write_features(splits, noting, tmp_path, "mean", progress=False)
    assert again == [*range(128, 200), *range(30)]
    assert open_features(tmp_path, splits)["train"].column("features").batch([0, 130])[
        :, 0
    ].tolist() == [0, 130]
    again.clear()
    write_features(splits, noting, tmp_path, "mean", progress=False)
    assert again == []


def test_features_of_other_data_are_refused(tmp_path: Path, splits: dict[str, Grey]) -> None:
    written(tmp_path, splits)
    with pytest.raises(PolymodalError, match="'test' are of other data: 30 images"):
        open_features(tmp_path, {"test": Grey(31, "test")})
    with pytest.raises(PolymodalError, match="no features of the split 'val', only of train, test"):
        open_features(tmp_path, {"val": Grey(31, "val")})
    with pytest.raises(PolymodalError, match=r"another encoder \(mean\). Choose another folder"):
        write_features(splits, mean, tmp_path, "median", progress=False)


def test_damaged_files_are_refused(tmp_path: Path, splits: dict[str, Grey]) -> None:
    written(tmp_path, splits)
    path = tmp_path / "test.npy"
    content = path.read_bytes()
    path.write_bytes(content[:-7])
    with pytest.raises(PolymodalError, match=r"test.npy: missing or cut off"):
        open_features(tmp_path, splits)
    path.unlink()
    with pytest.raises(PolymodalError, match=r"test.npy: missing or cut off"):
        open_features(tmp_path, splits)
    np.save(path, np.zeros((3, 3), np.float16))
    with pytest.raises(PolymodalError, match=r"expected float16 of shape \[30, 3\]"):
        open_features(tmp_path, splits)
    path.write_bytes(content)
    open_features(tmp_path, splits)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    no_dim = {key: value for key, value in manifest.items() if key != "dim"}
    changes: list[dict[str, object]] = [
        {"sha256": []},
        {"encoder": None},
        {"dtype": "x"},
        {"dtype": None},
        {"splits": None},
        {"splits": {"train": 3}},
        {"splits": {"train": {}, "test": {}}},
    ]
    for broken in ("{", "[]", "{}", *map(json.dumps, [no_dim, *(manifest | c for c in changes)])):
        (tmp_path / "manifest.json").write_text(broken)
        with pytest.raises(PolymodalError, match="Compute the features again"):
            open_features(tmp_path, splits)


@pytest.mark.parametrize("name", ["train", "statistics"])
def test_rows_in_another_order_are_refused(
    tmp_path: Path, splits: dict[str, Grey], name: str
) -> None:
    written(tmp_path, splits)
    path = tmp_path / f"{name}.npy"
    np.save(path, np.load(path)[::-1].copy())
    with pytest.raises(
        PolymodalError, match=rf"{name}\.npy: not as it was computed, by the SHA-256"
    ):
        open_features(tmp_path, splits)


def test_features_of_an_earlier_version_have_no_hashes(
    tmp_path: Path, splits: dict[str, Grey], capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, splits)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    del manifest["sha256"]
    files.write_json(tmp_path / "manifest.json", manifest)
    assert capsys.readouterr().err == ""
    for _ in range(2):
        opened = open_features(tmp_path, splits)
    assert opened["test"].column("features").batch([7]).tolist() == [[7, 14, 7]]
    assert " ".join(capsys.readouterr().err.split()).count("has no hashes of its features") == 1
    rows = np.zeros((30, 3), np.float16)
    rows[17, 1] = np.nan
    np.save(tmp_path / "test.npy", rows)
    with pytest.raises(PolymodalError, match="row 17 is not finite"):
        open_features(tmp_path, splits)


def test_what_an_encoder_must_not_say(tmp_path: Path, splits: dict[str, Grey]) -> None:
    with pytest.raises(PolymodalError, match="image 0 of 'train' are not finite in float16"):
        write_features(splits, lambda x: mean(x) * 1e6, tmp_path, "a", progress=False)
    with pytest.raises(PolymodalError, match=r"gave uint8 of shape \[32, 4, 4, 3\]. Pool"):
        write_features(splits, lambda x: x, tmp_path, "a", progress=False)  # type: ignore[arg-type]
    with pytest.raises(PolymodalError, match="float16 or float32"):
        write_features(splits, mean, tmp_path, "a", dtype="int8", progress=False)
    with pytest.raises(PolymodalError, match="'train' has no images"):
        write_features({"train": Grey(0, "")}, mean, tmp_path, "a", progress=False)
