"""Several folders and zips as one source."""

import pickle
import shutil
from pathlib import Path

import pytest

from polymodal.base.errors import PolymodalError
from polymodal.data.formats.archive import Directory, read_text
from polymodal.data.formats.joined import open_joined


@pytest.fixture
def parts(tmp_path: Path) -> str:
    """A zip, a folder in another place, and a folder around both."""
    for name, text in (("a/x.txt", "from a"), ("far/b/x.txt", "from b"), ("far/b/y.txt", "y")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    zipped = shutil.make_archive(str(tmp_path / "far" / "a"), "zip", tmp_path, "a")
    return f"{zipped}+{tmp_path / 'far' / 'b'}+{tmp_path / 'far'}"


def test_files_are_named_by_their_source(parts: str, tmp_path: Path) -> None:
    source = pickle.loads(pickle.dumps(open_joined(parts)))
    assert source.path == tmp_path
    assert source.glob("*.txt") == ["far/a.zip/x.txt", "far/b/x.txt", "far/b/y.txt"]
    assert [read_text(source, name) for name in source.glob("*.txt")] == ["from a", "from b", "y"]
    assert source.size("far/b/y.txt") == 1
    assert source.stamp("far/b/y.txt") == Directory(tmp_path / "far" / "b").stamp("y.txt")
    assert source.size("far/a.zip/y.txt") is None
    assert source.size("elsewhere/y.txt") is None
    with pytest.raises(FileNotFoundError, match=r"elsewhere/y\.txt is in none of far/a\.zip"):
        source.open("elsewhere/y.txt")


def test_one_path_is_that_source_even_with_a_plus_in_it(tmp_path: Path) -> None:
    (tmp_path / "a+b").mkdir()
    assert isinstance(open_joined(str(tmp_path / "a+b")), Directory)
    with pytest.raises(PolymodalError, match="nowhere: there is no such folder"):
        open_joined(f"{tmp_path}+{tmp_path}/nowhere")
