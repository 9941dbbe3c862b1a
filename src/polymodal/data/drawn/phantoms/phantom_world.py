"""The worlds of phantoms by name, and their splits."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from polymodal.base.errors import unknown
from polymodal.data.drawn.phantoms.phantom_spec import USUAL, Spec
from polymodal.data.drawn.phantoms.phantom_split import Split


@dataclass(frozen=True, kw_only=True)
class Phantoms(Spec):
    """Heads with a tumour in four MR sequences; equal fields give equal data."""

    def splits(self) -> dict[str, Split]:
        """The splits, drawn when they are asked for; patient k of one is the same however many there are."""
        return {name: Split(self, name) for name in ("train", "val", "test") if getattr(self, name)}


def named(name: str = "phantoms", **options: Any) -> Phantoms:
    """A world of phantoms with some of its fields changed.

    >>> named("phantoms-3d", train=10).size
    64
    """
    if name not in USUAL:
        raise unknown("world", name, USUAL)
    fields = [field.name for field in dataclasses.fields(Phantoms) if field.name != "name"]
    if name == "phantoms-3d":
        fields.remove("slices")
    for option in options:
        if option not in fields:
            raise unknown(f"option of the world {name!r}", option, fields)
    return Phantoms(name=name, **USUAL[name] | options)
