"""Embedded worlds: drawn by our own tracer, with the truth of every image known."""

from polymodal.data.drawn.scenes.drawn_sets import draw, open_drawn, open_world
from polymodal.data.drawn.scenes.world import WORLDS, World, named

__all__ = ["WORLDS", "World", "draw", "named", "open_drawn", "open_world"]
