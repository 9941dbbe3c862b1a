"""Birds: a drawn world for zero-shot learning, of classes that attributes of parts describe."""

from polymodal.data.drawn.birds.bird_world import Birds, named

__all__ = ["Birds", "named"]
