"""What Milvus must find or leave out, in its own language."""

from collections.abc import Iterable, Mapping
from typing import Any

WRITTEN = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"})


def quoted(text: str) -> str:
    r"""A string, whatever signs it has.

    >>> print(quoted('say "a\\b"'))
    "say \"a\\b\""
    """
    return f'"{text.translate(WRITTEN)}"'


def among(ids: Iterable[str]) -> str:
    """Rows with these ids.

    >>> among(["a", "b"])
    'id in ["a", "b"]'
    """
    return f"id in [{', '.join(map(quoted, ids))}]"


def matching(where: Mapping[str, Any]) -> str:
    """Rows whose metadata are as asked, each key and value; values are texts there.

    >>> print(matching({"split": "train", "year": 2014}))
    metadata["split"] == "train" and metadata["year"] == "2014"
    """
    return " and ".join(
        f"metadata[{quoted(key)}] == {quoted(str(value))}" for key, value in where.items()
    )
