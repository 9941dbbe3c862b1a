"""The world of X-rays by name, and its splits."""

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polymodal.base.errors import unknown
from polymodal.data.drawn.xrays.xray_spec import Spec

if TYPE_CHECKING:
    from polymodal.data.drawn.xrays.xray_split import Split


@dataclass(frozen=True, kw_only=True)
class XRays(Spec):
    """Chest films with 14 findings and reports; equal fields give equal data."""

    def splits(self) -> dict[str, "Split"]:
        """The splits, drawn when they are asked for; film k of one is the same however many there are."""
        from polymodal.data.drawn.xrays.xray_split import Split  # which compiles random numbers

        return {name: Split(self, name) for name in ("train", "val", "test") if getattr(self, name)}


def named(**options: Any) -> XRays:
    """The world of X-rays with some of its fields changed.

    >>> named(train=700, size=64).val
    400
    """
    fields = [field.name for field in dataclasses.fields(XRays)]
    for option in options:
        if option not in fields:
            raise unknown("option of the world 'xrays'", option, fields)
    return XRays(**options)
