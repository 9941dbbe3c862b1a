"""Files that are whole or absent, whatever happens while they are written."""

import errno
import hashlib
import json
import os
import stat
import tempfile
from pathlib import Path

import pytest

from polymodal.base import files
from polymodal.base.errors import PolymodalError


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_written_whole_into_folders_that_are_made(tmp_path):
    path = tmp_path / "a" / "b.txt"
    files.write_text(path, "één ✓")
    assert path.read_text("utf-8") == "één ✓"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert listing(path.parent) == ["b.txt"]


@pytest.mark.parametrize("interruption", [RuntimeError, KeyboardInterrupt])
def test_an_interrupted_write_leaves_the_old_file(tmp_path, interruption):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(interruption), files.atomic(path) as file:
        file.write(b"new")
        raise interruption
    assert path.read_text() == "old"
    assert listing(tmp_path) == ["a.txt"]


def test_until_it_is_whole_the_old_file_is_seen(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with files.atomic(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_says_so_and_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("old")
    made = tempfile.mkstemp

    def full(**options):
        handle, name = made(**options)
        os.close(handle)
        return os.open("/dev/full", os.O_RDWR), name

    monkeypatch.setattr(tempfile, "mkstemp", full)
    with pytest.raises(PolymodalError, match=r"disk is full: .*a\.txt could not be written"):
        files.write_text(path, "new")
    assert path.read_text() == "old"
    assert listing(tmp_path) == ["a.txt"]


def test_full_disks_are_known_through_other_errors():
    full, over = OSError(errno.ENOSPC, "full"), OSError(errno.EDQUOT, "over the quota")
    assert files.disk_is_full(full)
    assert files.disk_is_full(over)
    assert not files.disk_is_full(OSError(errno.EACCES, "no"))
    assert not files.disk_is_full(None)
    caused = RuntimeError("writing failed")
    caused.__cause__ = full
    assert files.disk_is_full(caused)
    try:
        try:
            raise full
        except OSError:
            raise ValueError("while closing")  # noqa: B904
    except ValueError as error:
        assert files.disk_is_full(error)


def test_json_is_for_people(tmp_path):
    files.write_json(tmp_path / "a.json", {"b": "±", "a": [1]})
    text = (tmp_path / "a.json").read_text("utf-8")
    assert "±" in text
    assert text.endswith("}\n")
    assert json.loads(text) == {"b": "±", "a": [1]}


def test_sha256(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"polymodal" * 100_000)
    assert files.sha256(path) == hashlib.sha256(b"polymodal" * 100_000).hexdigest()


def test_fingerprints_know_values_not_the_order_of_names():
    one = {"a": [1, 2], "b": {"c": "é", "d": None}}
    assert files.fingerprint(one) == files.fingerprint({"b": {"d": None, "c": "é"}, "a": [1, 2]})
    assert files.fingerprint(one) != files.fingerprint(one | {"a": [2, 1]})
    assert files.fingerprint([]) == "4f53cda18c2baa0c"  # the same on every machine


def test_halves_of_characters_are_written_as_json_does(tmp_path):
    name = os.fsdecode(b"photo \xff.png")  # a file name that is no UTF-8
    files.write_json(tmp_path / "a.json", [name])
    assert json.loads((tmp_path / "a.json").read_text("utf-8")) == [name]
    assert files.fingerprint(name) != files.fingerprint(name.replace("\udcff", r"\udcff"))


def test_a_file_that_could_not_be_written_is_refused_before_work(tmp_path):
    (tmp_path / "file").touch()
    files.check_file(tmp_path / "file")
    files.check_file(tmp_path / "new/a.json")
    with pytest.raises(PolymodalError, match="is a folder, but a file is to be"):
        files.check_file(tmp_path)
    with pytest.raises(PolymodalError, match=r"file/in cannot be written: .*/file is a file\."):
        files.check_file(tmp_path / "file/in/a.json")


def test_a_cache_that_cannot_be_written_says_how_to_choose_another(tmp_path, monkeypatch):
    monkeypatch.setenv("POLYMODAL_CACHE", str(tmp_path))
    files.check_cache(tmp_path / "worlds")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(
        PolymodalError, match=f"in the cache, {tmp_path}, but {tmp_path} may not be"
    ):
        files.check_cache(tmp_path / "worlds")
    with pytest.raises(PolymodalError, match="variable POLYMODAL_CACHE to a folder that can be"):
        files.check_cache(tmp_path / "worlds")


def test_who_has_no_home_is_told_how_to_choose_a_cache(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("POLYMODAL_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(PolymodalError, match=r"no home directory .* POLYMODAL_CACHE to a folder"):
        files.cache_folder()


def test_the_cache_is_where_the_user_says(monkeypatch, tmp_path):
    monkeypatch.setenv("POLYMODAL_CACHE", str(tmp_path / "mine"))
    assert files.cache_folder() == tmp_path / "mine"
    monkeypatch.delenv("POLYMODAL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert files.cache_folder() == tmp_path / "polymodal"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert files.cache_folder() == tmp_path / ".cache" / "polymodal"
