"""Word vectors in a text file, as GloVe's, a word and its numbers on each line; or packed in a folder."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float32

from polymodal.base.errors import PolymodalError
from polymodal.data.packed_word_vectors import PACKAGE, opened, package_folder, read_packed


def read_word_vectors(
    path: Path | str, words: Sequence[str]
) -> tuple[Float32[np.ndarray, "n d"], Bool[np.ndarray, " n"]]:
    """The vectors of some words, zeros for those that the file does not have, and which it has."""
    path = located(path)
    if path.is_dir():
        return told_words(*read_packed(path, words), path)
    wanted = {word: place for place, word in enumerate(words)}
    known = np.zeros(len(words), np.bool_)
    vectors: np.ndarray | None = None
    dim = 0
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            word, *rest = line.rstrip().split(" ")
            dim = dim or len(rest)
            place = wanted.get(word)
            if place is None and len(rest) == dim:
                continue
            try:
                vector = np.array(rest, np.float32)
            except ValueError:
                vector = np.full(0, np.nan, np.float32)
            if len(vector) != dim or not dim or not np.isfinite(vector).all():
                raise PolymodalError(
                    f"{path}, line {number}: a word and {dim or 'some'} numbers were expected, found "
                    f"{line.strip()[:40]!r}. Give a text file as GloVe's."
                )
            if vectors is None:
                vectors = np.zeros((len(words), dim), np.float32)
            if place is not None:
                vectors[place], known[place] = vector, True
    return told_words(vectors, known, path)


def told_words(
    vectors: Float32[np.ndarray, "n d"] | None, known: Bool[np.ndarray, " n"], path: Path
) -> tuple[Float32[np.ndarray, "n d"], Bool[np.ndarray, " n"]]:
    """What was found, if it is anything."""
    if vectors is None or not known.any():
        raise PolymodalError(
            f"{path} has none of the {len(known)} words of the training reports. Give word vectors of "
            "their language, or --words learned."
        )
    return vectors, known


def located(path: Path | str) -> Path:
    """The file or folder of word vectors, or where their package has them."""
    if str(path) == PACKAGE and not Path(path).exists():
        return package_folder()
    if not Path(path).exists():
        raise PolymodalError(
            f"There is no file of word vectors at {path}. Give GloVe's, such as glove.6B.300d.txt, a "
            f"folder of packed ones, {PACKAGE} (the package), or --words learned."
        )
    return Path(path)


def vector_width(path: Path | str) -> int:
    """How many numbers a word has, by the first line of a file or the array of a folder."""
    path = located(path)
    if path.is_dir():
        return int(opened(path).shape[1])
    with path.open(encoding="utf-8", errors="replace") as file:
        return len(file.readline().rstrip().split(" ")) - 1
