"""Retrieval by two towers: an image and a caption become embeddings, and a measure compares them.

What VSE++ and its Gaussian relatives share (001, §2–3). An embedding is a batch of vectors or a
`DiagonalGaussian`; little here asks which.
"""

from polymodal.systems.retrieval.tower_settings import Settings, caption_part, image_part, learn
from polymodal.systems.retrieval.two_towers import Retrieval

__all__ = ["Retrieval", "Settings", "caption_part", "image_part", "learn"]
