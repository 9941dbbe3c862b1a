"""Phantoms: drawn heads with a tumour, as four MR sequences see them, in slices or volumes."""

from polymodal.data.drawn.phantoms.phantom_spec import USUAL
from polymodal.data.drawn.phantoms.phantom_world import Phantoms, named

__all__ = ["NAMES", "Phantoms", "named"]

NAMES = tuple(USUAL)
"""The worlds: slices, and volumes."""
