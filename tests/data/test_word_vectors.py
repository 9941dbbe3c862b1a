"""Word vectors as GloVe's files have them, and what is wrong with others."""

from pathlib import Path

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
