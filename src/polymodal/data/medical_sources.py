"""Medical datasets by name: `phantoms,size=64`, `lgg:PATH`."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from polymodal.base.errors import PolymodalError
from polymodal.data.option_values import typed
from polymodal.data.records import Dataset

DRAWN = ("phantoms", "phantoms-3d")
"""Drawn worlds."""

FILES: Mapping[str, Mapping[str, type]] = {}
"""Readers of files, and the options of each with their types."""

MEDICAL = (*DRAWN, *FILES)


def open_medical(name: str, options: Mapping[str, str], skip_bad: bool) -> Mapping[str, Dataset]:
    """The splits of a medical dataset; worlds are drawn whenever they are asked for."""
    kind, colon, _ = name.partition(":")
    if bool(colon) == (kind in DRAWN):
        written = kind if kind in DRAWN else f"{kind}:PATH"
        raise PolymodalError(f"{name!r} is not how these data are named. Write {written}.")
    return open_drawn(kind, options)


def open_drawn(name: str, options: Mapping[str, str]) -> Mapping[str, Dataset]:
    """The splits of a drawn world."""
    from polymodal.data.drawn import phantoms

    known = fields_of(phantoms.Phantoms)
    return phantoms.named(name, **typed(known, options, f"the world {name!r}")).splits()


def fields_of(world: Any) -> dict[str, type]:
    """The options of a world and the type of each, by its default."""
    return {f.name: type(f.default) for f in dataclasses.fields(world) if f.name != "name"}
