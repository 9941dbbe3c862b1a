"""What a user can get wrong, said plainly: what was expected, what was found and where, what to do."""

import difflib
from collections.abc import Iterable


class PolymodalError(Exception):
    """A mistake that a user can mend; its message says how."""


def unknown(kind: str, name: str, known: Iterable[str]) -> PolymodalError:
    """Name the culprit, its nearest neighbour and every choice.

    >>> print(unknown("world", "scene", ["scenes", "two-objects"]))
    Unknown world 'scene'. Did you mean 'scenes'? Known: scenes, two-objects.
    """
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return PolymodalError(f"Unknown {kind} {name!r}.{hint} Known: {', '.join(known)}.")
