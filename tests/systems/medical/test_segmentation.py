"""`model.segment`: from arrays or files, with any of the modalities, of any size."""

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data.scan_scales import FileRule
from polymodal.systems.medical import cmim, segmentation, unet
from scans import INFORMED, made, scans, trained


@pytest.fixture(scope="module")
def model():
    return trained(cmim, scans(36, classes=1), **INFORMED)


def test_it_segments_as_it_was_scored(model) -> None:
    data = scans(12, seed=1)
    for names in (("flair",), ("t1",), ("flair", "t1")):
        right = []
        for row in range(len(data)):
            found = model.segment({name: data[row][name] for name in names})
            assert found.labels.shape == (16, 16)
            assert found.modalities == names
            np.testing.assert_allclose(found.chances.sum(0), 1, atol=1e-5)
            right.append((found.labels == data[row].mask).mean())
        assert np.mean(right) > 0.95
    with torch.no_grad():
        batch = model.examples(data).batch(np.arange(1))
        given, there, _ = model.scans(batch)
        logits = model.decode(model.encode(given), there[None])
    found = model.segment({"flair": data[0]["flair"][0], "t1": data[0]["t1"]})
    np.testing.assert_allclose(found.chances, logits[0].softmax(0).numpy(), atol=1e-5)


def test_units_and_sizes_of_a_file_do_not_matter(model, tmp_path: Path) -> None:
    data = scans(3, side=25, seed=2)
    scan = data[0]["flair"][0]
    whole = model.segment({"flair": scan}).labels
    assert (whole == data[0].mask).mean() > 0.95
    assert model.segment({"flair": 100 + 20 * scan}).labels.tolist() == whole.tolist()
    grey = np.clip(20 * scan, 0, 255).astype(np.uint8)
    Image.fromarray(grey).save(tmp_path / "flair.png")
    Image.fromarray(np.stack([grey] * 3, -1)).save(tmp_path / "rgb.png")
    np.save(tmp_path / "flair.npy", scan)
    for name in ("flair.png", "rgb.png", "flair.npy"):
        found = model.segment({"flair": tmp_path / name}).labels
        assert (found == whole).mean() > 0.98


def ringed(side: int, size: int) -> np.ndarray:
    """A scan of a size with a disc off its middle, as large as those of the training if it is scaled so."""
    rows, columns = np.mgrid[:side, :side] * size / side
    found = np.zeros((side, side), np.float32)
    found[np.hypot(rows - 0.4 * size, columns - 0.6 * size) < 0.2 * size] = 1
    return found


def test_slices_are_seen_in_the_size_of_the_training(model, monkeypatch) -> None:
    """A disc is found in a slice of any size, in its own pixels; as it is, where that is asked for."""
    for shape in ((16, 16), (40, 40), (11, 11), (30, 24)):
        mask = np.zeros(shape)
        side = min(shape)
        mask[:side, :side] = ringed(side, 16)
        scan = np.random.default_rng(0).normal(size=shape) * 0.3 + 3 * mask
        found, seen = windows_seen(model, {"flair": scan}, monkeypatch)
        assert set(seen) == {(16, 16)}
        assert found.labels.shape == found.chances.shape[1:] == shape
        assert found.resized == (None if shape == (16, 16) else (16, 16))
        assert 2 * (found.labels * mask).sum() / (found.labels.sum() + mask.sum()) > 0.75, shape
        kept, seen = windows_seen(model, {"flair": scan}, monkeypatch, as_is=True)
        assert seen[-1] == shape and kept.resized is None


@pytest.mark.parametrize(
    ("fit", "patch", "resizes"),
    [("free", None, True), ("free", 8, False), ("resized", 8, True), ("kept", None, False)],
)
def test_whether_slices_are_resized_is_told_by_their_reader(fit, patch, resizes) -> None:
    system = made(unet, scans(6), patch=patch)
    rule = asdict(FileRule(scale="own", fit=fit))
    system.learned["files"] = {"flair": rule, "t1": rule}
    found = system.segment({"t1": np.random.default_rng(0).normal(size=(20, 24))})
    assert found.labels.shape == (20, 24)
    assert found.resized == ((16, 16) if resizes else None)


def test_volumes_are_never_resized() -> None:
    system = made(unet, scans(6, side=8, dims=3), levels=2)
    found = system.segment({"t1": np.random.default_rng(0).normal(size=(4, 12, 8))})
    assert found.labels.shape == (4, 12, 8) and found.resized is None


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_model_of_slices_takes_a_volume_plane_by_plane(model, axis: int) -> None:
    volume = np.random.default_rng(0).normal(size=(18, 21, 16)).astype(np.float32)
    found = model.segment({"flair": volume}, axis=axis)
    assert found.labels.shape == volume.shape
    assert found.chances.shape == (2, *volume.shape)
    for place in (0, 5, 15):  # the file's axes are those of the array backwards
        plane = volume.take(place, 2 - axis)
        alone = model.segment({"flair": plane})
        assert found.labels.take(place, 2 - axis).tolist() == alone.labels.tolist()
        own = found.chances.take(place, 3 - axis)
        np.testing.assert_allclose(own, alone.chances, atol=1e-5)


def test_flips_are_averaged(model) -> None:
    scan = scans(3, seed=2)[0]["flair"]
    one = model.segment({"flair": scan}).chances
    other = model.segment({"flair": scan[..., ::-1]}).chances[..., ::-1]
    both = model.segment({"flair": scan}, flips=True).chances
    np.testing.assert_allclose(both, (one + other) / 2, atol=1e-5)


def test_labels_are_those_of_the_masks() -> None:
    train = scans(6, classes=3)
    scan = {"t1": train[0]["t1"]}
    assert set(np.unique(made(unet, train, target=(2,)).segment(scan).labels)) <= {0, 1}
    system = made(unet, train)
    system.learned["labels"] = [0, 5, 6, 7]
    assert set(np.unique(system.segment(scan).labels)) <= {0, 5, 6, 7}


def windows_seen(system, scans: dict, monkeypatch, **how) -> tuple[segmentation.Segmentation, list]:
    """What is found, and the grid of each window."""
    seen = []
    encode = system.encode
    monkeypatch.setattr(
        system, "encode", lambda own: seen.append(tuple(own[0].shape[2:])) or encode(own)
    )
    return system.segment(scans, **how), seen


def test_a_large_volume_is_segmented_window_by_window(monkeypatch) -> None:
    system = made(cmim, scans(6, side=8, dims=3), levels=2, **INFORMED)
    volume = {"flair": np.random.default_rng(0).normal(size=(12, 9, 8)).astype(np.float32)}
    whole, seen = windows_seen(system, volume, monkeypatch)
    assert seen == [(12, 9, 8)]
    monkeypatch.setattr(segmentation, "WHOLE", 100)
    parts, seen = windows_seen(system, volume, monkeypatch)
    assert seen == [(8, 8, 8)] * 4
    np.testing.assert_allclose(parts.chances.sum(0), 1, atol=1e-5)
    assert whole.chances.shape == parts.chances.shape
    covered = system.segment(volume, window=12)
    assert covered.chances.tolist() == whole.chances.tolist()


@pytest.mark.parametrize("dims", [2, 3])
def test_larger_scans_are_scored_as_they_are_segmented(dims: int, monkeypatch) -> None:
    train = scans(24, side=16, dims=dims)
    system = trained(unet, train, steps=60, patch=12, foreground=0.7)
    large = scans(6, side=20, dims=dims, seed=1)
    given = {name: large[0][name] for name in ("flair", "t1")}
    _, seen = windows_seen(system, given, monkeypatch)
    assert seen == [(12,) * dims] * 2**dims
    found = system.evaluate(large)["dice_all"]
    assert found > 60
    labels = [
        system.segment({n: large[i][n] for n in ("flair", "t1")}).labels for i in range(len(large))
    ]
    dices = []
    for patient in (slice(0, 3), slice(3, 6)):
        mine = np.stack(labels[patient]) > 0
        true = np.stack([large[i].mask for i in range(*patient.indices(6))]) > 0
        dices.append(200 * (mine & true).sum() / (mine.sum() + true.sum()))
    assert found == pytest.approx(np.mean(dices))


def test_products_are_rounded_where_it_is_asked_for(model) -> None:
    scan = {"flair": scans(3, seed=3)[0]["flair"]}
    exact, rounded = model.segment(scan), model.segment(scan, precision="bf16")
    assert rounded.chances.dtype == np.float32
    assert 0 < np.abs(exact.chances - rounded.chances).max() < 0.1
    assert (exact.labels == rounded.labels).mean() > 0.98


def test_windows_are_checked(model) -> None:
    scan = {"t1": np.zeros((16, 16))}
    with pytest.raises(PolymodalError, match="window must be 1 or more, not 0: it is the side of"):
        model.segment(scan, window=0)
    with pytest.raises(PolymodalError, match=r"overlap is a share, .* not 1\.0"):
        model.segment(scan, overlap=1.0)


def test_axes_that_are_not_there_are_refused(model) -> None:
    volume = {"t1": np.zeros((8, 8, 8))}
    with pytest.raises(PolymodalError, match="axis is one of a volume's file: 0, 1 or 2, not 3"):
        model.segment(volume, axis=3)
    with pytest.raises(PolymodalError, match="segments volumes whole, so that no axis"):
        made(unet, scans(6, side=8, dims=3), levels=2).segment(volume, axis=2)
    with pytest.raises(
        PolymodalError, match=r"axis is for volumes, but the scan of t1 has .*\[8, 8\]"
    ):
        model.segment({"t1": np.zeros((8, 8))}, axis=2)
    with pytest.raises(PolymodalError, match="one size; found flair 9×8×8, t1 8×8×8"):
        model.segment({**volume, "flair": np.zeros((9, 8, 8))}, axis=2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "segments with any of flair, t1; there is none"),
        ({"t2": np.zeros((16, 16))}, "any of flair, t1; found t2"),
        ({"t1": np.zeros((2, 16, 16))}, r"A scan of t1 has 1 channel of 2 sides; found float64 of"),
        ({"t1": np.full((16, 16), np.nan)}, "The scan of t1 has values that are no numbers"),
        ({"t1": np.zeros((1, 1, 16, 16))}, r"found float64 of shape \[1, 1, 16, 16\]"),
        ({"t1": np.zeros((5, 16, 16))}, r"\[5, 16, 16\]. An array of planes needs axis"),
        (
            {"t1": np.zeros((16, 16)), "flair": np.zeros((16, 20))},
            "they have one size; found flair 16×20, t1 16×16",
        ),
        ({"t1": "nowhere.png"}, r"There is no scan at nowhere\.png"),
    ],
)
def test_what_cannot_be_segmented_is_refused(model, given: dict, message: str) -> None:
    with pytest.raises(PolymodalError, match=message):
        model.segment(given)
