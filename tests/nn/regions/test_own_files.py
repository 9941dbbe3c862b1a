"""The user's own boxes and features, whole and broken."""

import io
import sys
import zipfile

import numpy as np
import pytest

from polymodal.base.errors import PolymodalError
from polymodal.data.columns import Read
from polymodal.data.records import Dataset
from polymodal.nn import regions
from toys import write_backbone


def black(rows):
    return np.zeros((len(rows), 64, 64, 3), np.uint8)


@pytest.fixture
def dataset() -> Dataset:
    ids = [f"{i}.png" for i in range(4)]
    return Dataset({"image": Read(4, black)}, ids=ids, fingerprint="black")


BOXES = np.array([[0, 0, 10, 20], [5, 5, 64, 64], [1, 2, 3, 4]], np.float32)


def write_own(folder, hdf5):
    """Boxes and features of four images: the third has no box, the fourth's name has no extension."""
    arrays = {}
    for row, name in enumerate(["0.png", "1.png", "2.png", "3"]):
        boxes = BOXES[: 0 if row == 2 else 3] + row % 2
        boxes = boxes.clip(0, 64)
        arrays[name] = {"boxes": boxes, "features": np.full((len(boxes), 2), row, np.float32)}
    if hdf5:
        h5py = pytest.importorskip("h5py")
        with h5py.File(folder / "own.h5", "w") as file:
            for name, found in arrays.items():
                for key, values in found.items():
                    file[f"{name}/{key}"] = values
        return folder / "own.h5"
    for name, found in arrays.items():
        np.savez(folder / f"{name}.npz", **found)
    return folder


@pytest.mark.parametrize("hdf5", [False, True], ids=["npz", "hdf5"])
def test_own_boxes_and_features(dataset, tmp_path, hdf5):
    path = write_own(tmp_path, hdf5)
    plan = regions.describe(finder=f"own:{path}*2+windows*1", encoder="none")
    made = regions.with_proposals(dataset, plan).columns
    boxes, features = made["proposals"].values, made["proposal_features"].values
    window = [0, 0, 64, 64]
    assert boxes[1].tolist() == [[1, 1, 11, 21], [6, 6, 64, 64], window]
    assert boxes[2].tolist() == [window, [0] * 4, [0] * 4]  # empty ones are last
    assert features[3].tolist() == [[3, 3], [3, 3], [0, 0]]
    beside = regions.describe(finder=f"own:{path}*2", crop=2)
    found = regions.with_proposals(dataset, beside).columns["proposal_features"]
    assert (found.dim, found.values[1, 0, 12:].tolist()) == (14, [1, 1])
    with pytest.raises(PolymodalError, match=r"the finder 'own'.*which nothing finds in a new"):
        regions.propose(black([0]), plan)


@pytest.mark.parametrize("pool", ["crops", "roi"])
def test_networks_pass_over_images_without_boxes(dataset, tmp_path, pool):
    model = write_backbone(tmp_path / "vit", "vit")
    plan = regions.describe(
        finder=f"own:{write_own(tmp_path, False)}", encoder=str(model), pool=pool
    )
    found = regions.with_proposals(dataset, plan, batch_size=1).columns["proposal_features"].values
    assert not found[2].any()
    assert found[3, :3].any(1).all()


BROKEN = {
    "boxes are numbers of shape [k, 4], found none": {"features": np.zeros((1, 2))},
    "found float64 of shape [2, 3]": {"boxes": np.zeros((2, 3))},
    "box 1 is [0.0, 0.0, 90.0, 9.0], but the image is 64×64": {"boxes": [[0, 0, 9, 9], [0, 0, 90, 9]]},
    "box 0 is [9.0, 0.0, 0.0, 9.0]": {"boxes": [[9, 0, 0, 9]]},
    "box 0 is [nan, 0.0, 9.0, 9.0]": {"boxes": [[float("nan"), 0, 9, 9]]},
    "features are floats of shape [1, d], a row a box, found float64 of shape [2, 2]": {
        "boxes": [[0, 0, 9, 9]], "features": np.zeros((2, 2)),
    },
    "each box has 3 features, but those of other images have 2": {
        "boxes": BOXES, "features": np.zeros((3, 3)),
    },
}  # fmt: skip


@pytest.mark.parametrize("message", BROKEN)
def test_own_files_that_are_broken(dataset, tmp_path, message):
    write_own(tmp_path, hdf5=False)
    np.savez(tmp_path / "1.png.npz", **BROKEN[message])
    with pytest.raises(PolymodalError) as error:
        regions.with_proposals(dataset, regions.describe(finder=f"own:{tmp_path}"))
    assert message in str(error.value)
    assert "1.png.npz" in str(error.value)


def test_own_files_that_are_not_there(dataset, tmp_path):
    with pytest.raises(PolymodalError, match="own:nowhere: there is no such folder or file"):
        regions.with_proposals(dataset, regions.describe(finder="own:nowhere"))
    folder = tmp_path / "some"
    folder.mkdir()
    write_own(folder, hdf5=False)
    plan = regions.describe(finder=f"own:{folder}")
    (folder / "3.npz").write_bytes((folder / "3.npz").read_bytes()[:50])
    with pytest.raises(PolymodalError, match=r"3.npz: cut off or no npz file"):
        regions.with_proposals(dataset, plan)
    (folder / "3.npz").unlink()
    with pytest.raises(
        PolymodalError, match=r"there is no such file, so the image '3.png' has no boxes"
    ):
        regions.with_proposals(dataset, plan)
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in dataset.ids:
        np.savez(bare / f"{name}.npz", boxes=BOXES)
    with pytest.raises(PolymodalError, match="These regions have no features"):
        regions.with_proposals(dataset, regions.describe(finder=f"own:{bare}", encoder="none"))


def test_own_files_that_would_fill_the_memory(dataset, tmp_path, monkeypatch):
    write_own(tmp_path, hdf5=False)
    plan = regions.describe(finder=f"own:{tmp_path}")
    with zipfile.ZipFile(tmp_path / "0.png.npz", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("boxes.npy", bytes(5_000_000))
    monkeypatch.setattr("polymodal.nn.regions.own_files.LARGEST_FILE", 4_000_000)
    assert (tmp_path / "0.png.npz").stat().st_size < 10_000
    with pytest.raises(
        PolymodalError, match=r"0.png.npz: .* have 5,000,000 bytes unpacked, but at"
    ):
        regions.with_proposals(dataset, plan)


def test_own_files_of_another_kind(dataset, tmp_path):
    write_own(tmp_path, hdf5=False)
    plan = regions.describe(finder=f"own:{tmp_path}")
    header = io.BytesIO()
    told = {"descr": "<f4", "fortran_order": False, "shape": (10**14, 4)}
    np.lib.format.write_array_header_1_0(header, told)
    with zipfile.ZipFile(tmp_path / "0.png.npz", "w") as packed:
        packed.writestr("boxes.npy", header.getvalue())
    with pytest.raises(PolymodalError, match=r"0.png.npz: cut off or no npz file"):
        regions.with_proposals(dataset, plan)
    with zipfile.ZipFile(tmp_path / "0.png.npz", "w") as packed:
        packed.writestr("boxes", "0 0 9 9")
    with pytest.raises(PolymodalError, match=r"boxes are numbers of shape \[k, 4\], found |S"):
        regions.with_proposals(dataset, plan)


def test_own_hdf5_files_that_would_fill_the_memory(dataset, tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "own.h5"
    with h5py.File(path, "w") as file:  # a chunk that was never written takes no place
        file.create_dataset("0.png/boxes", (10**9, 4), chunks=(1024, 4), dtype="f4")
    assert path.stat().st_size < 100_000
    with pytest.raises(PolymodalError, match=r"own.h5: 0.png: .* 16,000,000,000 bytes unpacked"):
        regions.with_proposals(dataset, regions.describe(finder=f"own:{path}"))


def test_own_hdf5_files_that_are_broken(dataset, tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "own.h5"
    with h5py.File(path, "w") as file:
        file["0.png/boxes"] = BOXES
    plan = regions.describe(finder=f"own:{path}")
    with pytest.raises(PolymodalError, match=r"it has no group '1.png'"):
        regions.with_proposals(dataset, plan)
    with h5py.File(path, "a") as file:
        file["1.png"] = BOXES
    with pytest.raises(PolymodalError, match=r"it has no group '1.png'"):
        regions.with_proposals(dataset, plan)
    path.write_bytes(b"no such thing")
    with pytest.raises(PolymodalError, match="cut off or no HDF5 file"):
        regions.with_proposals(dataset, plan)


def test_a_missing_extra_is_named(monkeypatch, dataset, tmp_path):
    monkeypatch.setitem(sys.modules, "h5py", None)
    (tmp_path / "own.h5").touch()
    with pytest.raises(PolymodalError, match=r"HDF5 files need h5py.*polymodal\[regions\]"):
        regions.with_proposals(dataset, regions.describe(finder=f"own:{tmp_path / 'own.h5'}"))
