"""VSE++: image and caption embeddings in one space, trained with hard negatives (001, §2–3).

The image encoder and the GRU are each followed by a linear map to ℓ2-normalised vectors (001,
eq. 3, 9). The hinge loss pulls a caption to its image and away from the hardest negative of the
batch.
"""

from dataclasses import dataclass
from typing import Any

from polymodal.maths.similarity import cosine
from polymodal.nn.towers import Points
from polymodal.systems.retrieval import Retrieval, Settings, caption_part, image_part, learn

__all__ = ["Config", "build", "learn"]


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """A VSE++ model; the defaults are the paper's (001, §3.1)."""


def build(config: Config, learned: dict[str, Any]) -> Retrieval:
    """The model, given what `learn` found."""
    return Retrieval(
        config=config,
        learned=learned,
        images=Points(image_part(config, learned), config.embed_dim),
        captions=Points(caption_part(config, learned), config.embed_dim),
        measure=cosine,
    )
