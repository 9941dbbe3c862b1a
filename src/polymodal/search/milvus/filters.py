"""What Milvus must find or leave out, in its own language."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

NUMBER = re.compile(r"-?(0|[1-9]\d{0,17})(\.\d+)?(e[+-]?\d+)?")
"""Numbers that are written alike in Python and in a filter, and fit 64 bits."""

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


def said(key: str) -> str:
    """What an item's metadata say under a key."""
    return f"metadata[{quoted(key)}]"


def matching(where: Mapping[str, Any]) -> str:
    """Rows whose metadata are as asked, each key and value; values are compared as text.

    >>> print(matching({"split": "train", "year": 2014}))
    (metadata["split"] == "train") and (metadata["year"] == "2014" or metadata["year"] == 2014)
    """
    parts = []
    for key, value in where.items():
        text = str(value)
        literals = [quoted(text)]
        if text in ("True", "False"):
            literals.append(text.lower())
        elif NUMBER.fullmatch(text):
            literals.append(text)
        parts.append(" or ".join(f"{said(key)} == {literal}" for literal in literals))
    return " and ".join(f"({part})" for part in parts)
