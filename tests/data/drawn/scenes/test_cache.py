"""Drawn worlds on disk: resumed, checked, and the same as those drawn on the fly."""

import errno
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from polymodal.base import progress
from polymodal.base.errors import PolymodalError
from polymodal.data.drawn import scenes as worlds
from polymodal.data.drawn.scenes import drawn_sets as cache

WORLD = worlds.named("scenes", train=10, val=3, test=5, size=24, hold_out=("purple",))


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "SHARD", 3)


@pytest.fixture
def drawn(tmp_path: Path) -> Path:
    worlds.draw(WORLD, tmp_path / "world", progress=False)
    return tmp_path / "world"


def test_a_drawn_world_equals_the_world(drawn: Path) -> None:
    fresh, kept = WORLD.splits(), worlds.open_drawn(drawn)
    assert list(fresh) == list(kept)
    for name, split in fresh.items():
        other = kept[name]
        assert len(split) == len(other) and split.fingerprint == other.fingerprint
        every = range(len(split))
        assert np.array_equal(split.images(every), other.images(every))
        for k in every:
            a, b = split[k], other[k]
            assert a == b
            assert a.regions == b.regions and np.array_equal(a.mask, b.mask)
            assert split.captions(k) == other.captions(k)
        assert other.images([]).shape == (0, 24, 24, 3)


def test_a_drawn_split_can_be_sent_to_a_worker(drawn: Path) -> None:
    split = worlds.open_drawn(drawn)["train"]
    split.images([0])
    assert pickle.loads(pickle.dumps(split))[1] == split[1]


def test_large_images_come_in_small_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "BYTES", 2 * 3 * 24 * 24)
    worlds.draw(WORLD, tmp_path / "world", progress=False)
    assert len(np.load(tmp_path / "world" / "train-00000.npy")) == 2
    assert worlds.open_drawn(tmp_path / "world")["train"][3] == WORLD.splits()["train"][3]


def stamps(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("*.np?")}


def test_a_killed_draw_goes_on_where_it_stopped(tmp_path: Path) -> None:
    folder = tmp_path / "world"
    code = (
        "import sys; from pathlib import Path; from polymodal.data import worlds\n"
        "from polymodal.data.drawn.scenes import drawn_sets; drawn_sets.SHARD = 3\n"
        "world = worlds.named('one-object', size=192, train=240, val=0, test=0)\n"
        "worlds.draw(world, Path(sys.argv[1]), progress=False)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(folder)])
    deadline = time.monotonic() + 120
    while len(list(folder.glob("train-*.npz"))) < 3 and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with pytest.raises(PolymodalError, match=r"not finished .* goes on where it stopped"):
        worlds.open_drawn(folder)
    before = stamps(folder)
    assert 3 <= len(list(folder.glob("*.npz"))) < 80
    world = worlds.named("one-object", size=192, train=240, val=0, test=0)
    worlds.draw(world, folder, progress=False)
    after = stamps(folder)
    whole = [name for name in before if Path(name).stem + ".npz" in before]
    assert all(after[name] == before[name] for name in whole)
    assert len(after) == 160
    assert len(worlds.open_drawn(folder)["train"]) == 240


def test_a_damaged_shard_is_named_and_only_it_is_drawn_again(drawn: Path) -> None:
    victim = drawn / "train-00001.npy"
    before = stamps(drawn)
    content = bytearray(victim.read_bytes())
    content[-1] ^= 1
    victim.write_bytes(content)
    with pytest.raises(PolymodalError, match=r"train-00001.npy is damaged.*drawn anew"):
        worlds.open_drawn(drawn)
    worlds.open_drawn(drawn, check=False)
    worlds.draw(WORLD, drawn, progress=False)
    worlds.open_drawn(drawn)
    changed = {name for name, stamp in stamps(drawn).items() if stamp != before[name]}
    assert changed == {"train-00001.npy", "train-00001.npz"}


@pytest.mark.parametrize("name", ["train-00000.npy", "val-00000.npz"])
def test_a_missing_shard_is_named(drawn: Path, name: str) -> None:
    (drawn / name).unlink()
    with pytest.raises(PolymodalError, match=f"lacks .*{name}"):
        worlds.open_drawn(drawn)
    worlds.draw(WORLD, drawn, progress=False)
    worlds.open_drawn(drawn)


def test_a_truncated_truth_file_is_drawn_again(drawn: Path) -> None:
    victim = drawn / "test-00000.npz"
    victim.write_bytes(victim.read_bytes()[:100])
    worlds.draw(WORLD, drawn, progress=False)
    worlds.open_drawn(drawn)


def test_another_world_is_not_drawn_over(drawn: Path) -> None:
    other = worlds.named("scenes", train=10, val=3, test=5, size=32, hold_out=("purple",))
    with pytest.raises(PolymodalError, match=r"another world \(size is 24, not 32\)"):
        worlds.draw(other, drawn, progress=False)


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(PolymodalError, match="not empty and holds no drawn world"):
        worlds.draw(WORLD, tmp_path, progress=False)
    with pytest.raises(PolymodalError, match="is not a drawn world"):
        worlds.open_drawn(tmp_path)


def test_what_a_kill_left_half_written_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / ".spec.json.abc.part").write_text("{")
    worlds.draw(worlds.named("one-object", train=1, val=0, test=0, size=16), tmp_path, False)
    assert len(worlds.open_drawn(tmp_path)["train"]) == 1


def test_another_edition_and_a_broken_manifest_are_named(drawn: Path) -> None:
    path = drawn / "manifest.json"
    text = path.read_text()
    path.write_text(text.replace('"edition": 1', '"edition": 0'))
    with pytest.raises(PolymodalError, match=r"edition 0 .* draws edition 1"):
        worlds.open_drawn(drawn)
    path.write_text(text[:50])
    with pytest.raises(PolymodalError, match=r"manifest.json cannot be read"):
        worlds.open_drawn(drawn)


def test_a_full_disk_is_said_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, sync, calls = tmp_path / "world", os.fsync, []

    def full(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 8:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(PolymodalError, match="disk is full"):
        worlds.draw(WORLD, folder, progress=False)
    assert not list(folder.glob("*.part")) and not list(folder.glob(".*.part"))
    worlds.draw(WORLD, folder, progress=False)
    worlds.open_drawn(folder)


def test_a_world_is_drawn_once_into_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("POLYMODAL_CACHE", str(tmp_path))
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    options = {"train": 4, "val": 0, "test": 0, "size": 16}
    first = worlds.open_world("one-object", **options)
    folder = tmp_path / "worlds" / worlds.named("one-object", **options).fingerprint
    before = stamps(folder)
    again = worlds.open_world("one-object", **options)
    assert stamps(folder) == before
    assert first["train"][0] == again["train"][0]
    assert capsys.readouterr().err.count("drawing one-object: 4 of 4") == 1


def test_a_cache_that_cannot_be_written_is_told_before_anything_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").touch()
    monkeypatch.setenv("POLYMODAL_CACHE", str(tmp_path / "cache"))
    with pytest.raises(
        PolymodalError, match=r"cache is a file\. Set .* POLYMODAL_CACHE to a folder"
    ):
        worlds.open_world("one-object", train=4, val=0, test=0, size=16)
