"""Which numbers a field of a config may have: declared with the field's type, checked in one place.

>>> @dataclass(frozen=True)
... class Config:
...     lr: Positive[float] = 1e-3
...     steps: OneOrMore[int | None] = None
>>> check_ranges(Config(lr=-1))
Traceback (most recent call last):
polymodal.base.errors.PolymodalError: lr must be above 0, not -1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from numbers import Integral
from typing import Annotated, Any, TypeVar, get_type_hints

from polymodal.base.errors import PolymodalError

N = TypeVar("N")


@dataclass(frozen=True)
class Range:
    """Numbers that fit, what an error says of them after the field's name, and why it is so."""

    words: str
    fits: Callable[[Any], bool]
    why: str = ""


Positive = Annotated[N, Range("must be above 0", lambda n: 0 < n < math.inf)]
ZeroOrMore = Annotated[N, Range("must be 0 or more", lambda n: 0 <= n < math.inf)]
OneOrMore = Annotated[N, Range("must be 1 or more", lambda n: n >= 1)]
TwoOrMore = Annotated[N, Range("must be 2 or more", lambda n: n >= 2)]
Steps = Annotated[N, Range("is a number of steps, 0 or more", lambda n: n >= 0)]
Weight = Annotated[N, Range("is a weight, 0 or more", lambda n: 0 <= n < math.inf)]
Share = Annotated[N, Range("is a share, from 0 to 1", lambda n: 0 <= n <= 1)]
ShareBelowOne = Annotated[N, Range("is a share, from 0 to below 1", lambda n: 0 <= n < 1)]


def check_ranges(config: Any) -> None:
    """Refuse a config of which a number is out of its field's range."""
    for name, ranges in declared(config.__class__).items():
        value = getattr(config, name)
        for allowed in ranges:
            if value is not None and not allowed.fits(value):
                raise PolymodalError(f"{name} {allowed.words}, not {value}{allowed.why}.")


def check_count(name: str, value: Any, what: str) -> None:
    """Refuse an argument that is no whole number of 1 or more.

    >>> check_count("k", 2.5, "how many hits a query gets")
    Traceback (most recent call last):
    polymodal.base.errors.PolymodalError: k is a whole number, how many hits a query gets, not 2.5.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise PolymodalError(f"{name} is a whole number, {what}, not {value!r}.")
    if int(value) < 1:
        raise PolymodalError(f"{name} must be 1 or more, not {value}: it is {what}.")


@cache
def declared(kind: type) -> dict[str, list[Range]]:
    """The ranges of a class's fields; one that only gives a field another default keeps its range."""
    found = {}
    for part in reversed(kind.__mro__):
        for name, hint in get_type_hints(part, include_extras=True).items():
            ranges = [said for said in getattr(hint, "__metadata__", ()) if isinstance(said, Range)]
            if ranges:
                found[name] = ranges
    return found
