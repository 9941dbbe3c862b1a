"""Options of a dataset's name, from text: numbers, yes or no, names joined by +."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from polymodal.base.errors import PolymodalError, unknown


def flag(name: str, text: str) -> bool:
    """Yes or no, or an error that says what it is for."""
    if text not in ("yes", "no"):
        raise PolymodalError(f"{name} is yes or no, not {text!r}.")
    return text == "yes"


def number(name: str, text: str) -> int:
    """A whole number, or an error that says what it is for."""
    if not text.isdecimal():
        raise PolymodalError(f"{name} is a whole number, not {text!r}.")
    if len(text) > 100:
        raise PolymodalError(
            f"{name} is a whole number of at most 100 digits, not {len(text)}. Give a smaller one."
        )
    return int(text)


def decimal(name: str, text: str) -> float:
    """A number with or without a point, or an error that says what it is for."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found) or len(text) > 100:
        raise PolymodalError(f"{name} is a number such as 0.3, not {text[:100]!r}.")
    return found


def names(name: str, text: str) -> tuple[str, ...]:
    """Names joined by +, each once."""
    found = tuple(text.split("+"))
    if not all(found) or len(set(found)) < len(found):
        raise PolymodalError(f"{name} is a list of different names joined by +, not {text!r}.")
    return found


def typed(kinds: Mapping[str, type], options: Mapping[str, str], whose: str) -> dict[str, Any]:
    """Options as values of these types; those that are not among them are refused.

    >>> typed({"size": int, "missing": float}, {"missing": "0.3"}, "phantoms")
    {'missing': 0.3}
    """
    readers: Mapping[type, Any] = {
        int: number,
        float: decimal,
        bool: flag,
        tuple: names,
        str: plain,
    }
    known(kinds, options, whose)
    return {name: readers[kinds[name]](name, text) for name, text in options.items()}


def known(names: Iterable[str], options: Mapping[str, str], whose: str) -> None:
    """Refuse an option that is not among these."""
    for option in options:
        if option not in names:
            raise unknown(f"option of {whose}", option, names)


def plain(name: str, text: str) -> str:
    """A text as it is, which is not empty."""
    if not text:
        raise PolymodalError(f"{name} is empty. Give a value, or leave it out.")
    return text
