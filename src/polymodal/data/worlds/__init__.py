"""Embedded worlds: drawn by our own tracer, with the truth of every image known."""

from polymodal.data.worlds.cache import draw, open_drawn, open_world
from polymodal.data.worlds.sheet import contact_sheet
from polymodal.data.worlds.world import WORLDS, World, named

__all__ = ["WORLDS", "World", "contact_sheet", "draw", "named", "open_drawn", "open_world"]
