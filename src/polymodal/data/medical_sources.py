"""Medical datasets by name: `phantoms,size=64`, `lgg:PATH`."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from polymodal.base.errors import PolymodalError
from polymodal.data.option_values import typed
from polymodal.data.records import Dataset

DRAWN = ("phantoms", "phantoms-3d", "xrays")
"""Drawn worlds."""

FILES = ("lgg", "slices", "brats", "open-i")
"""Readers of files."""

MEDICAL = (*DRAWN, *FILES)


def open_medical(name: str, options: Mapping[str, str], skip_bad: bool) -> Mapping[str, Dataset]:
    """The splits of a medical dataset; worlds are drawn whenever they are asked for."""
    kind, colon, path = name.partition(":")
    if bool(colon) == (kind in DRAWN):
        written = kind if kind in DRAWN else f"{kind}:PATH"
        raise PolymodalError(f"{name!r} is not how these data are named. Write {written}.")
    if kind in DRAWN:
        return open_drawn(kind, options)
    if kind == "open-i":
        from polymodal.data.chest_films import Films, open_films

        given = typed(fields_of(Films), options, "open-i:")
        return open_films(path, Films(**given, skip_bad=skip_bad))
    if kind == "brats":
        from polymodal.data.volume_folder import Volumes, open_volumes

        given = typed(fields_of(Volumes), options, "brats:")
        return open_volumes(path, Volumes(**given, skip_bad=skip_bad))
    return open_slices_of(kind, path, options, skip_bad)


def open_drawn(name: str, options: Mapping[str, str]) -> Mapping[str, Dataset]:
    """The splits of a drawn world."""
    from polymodal.data.drawn import phantoms, xrays

    if name == "xrays":
        known = fields_of(xrays.XRays)
        return xrays.named(**typed(known, options, "the world 'xrays'")).splits()
    known = fields_of(phantoms.Phantoms)
    return phantoms.named(name, **typed(known, options, f"the world {name!r}")).splits()


def open_slices_of(
    kind: str, path: str, options: Mapping[str, str], skip_bad: bool
) -> Mapping[str, Dataset]:
    """Slices of patients in image files."""
    from polymodal.data.slice_folder import Slices, open_slices

    usual = {"channels": ("t1", "flair", "t1c")} if kind == "lgg" and "files" not in options else {}
    given = typed(fields_of(Slices), options, f"{kind}:")
    return open_slices(path, Slices(**usual | given, skip_bad=skip_bad))


def fields_of(options: Any) -> dict[str, type]:
    """The options that a dataclass has and the type of each, by its default."""
    return {
        field.name: type(field.default)
        for field in dataclasses.fields(options)
        if field.name != "name" and field.metadata.get("option", True)
    }
