"""InfoGround: phrases grounded by word–region attention, learned from captions without boxes (002).

A word attends to the regions of an image; its score with the image is high for the image that its caption
was written of, and low for others (L_img) and for words that would be false there (L_lang).
"""

from dataclasses import dataclass
from typing import Any, Literal

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import Positive, Weight, ZeroOrMore, check_ranges
from polymodal.data.pairs import captions_of
from polymodal.data.records import Dataset
from polymodal.nn.language_models import (
    LanguageModel,
    describe_language_model,
    small_language_model,
)
from polymodal.nn.word_region_attention import WordRegionAttention
from polymodal.systems.grounding.grounding_system import Grounding
from polymodal.systems.grounding.region_columns import described

OWN = "small"
"""The name of our own language model."""

Kind = Literal["auto", "none", "random", "plausible", "reranked"]
"""Kinds of negative captions."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """A grounding model; the defaults are the paper's (002, §2.5)."""

    words: str = OWN
    """small (our own, of the training captions' words; give it trained as --parts words=RUN, or it is
    trained along) or a transformers language model: hub id or folder."""
    random_words: bool = False
    """Start the language model of --words from random weights, and train it along (Table 2, row 1)."""
    word_width: Positive[int] = 128
    """Width of the small language model."""
    word_layers: Positive[int] = 3
    """Layers of the small language model."""
    word_heads: Positive[int] = 4
    """Attention heads of the small language model."""
    dim: Positive[int] = 384
    """Dimension of queries, keys and values."""
    hidden: ZeroOrMore[int] = 1
    """Hidden layers of the four networks; 0 for linear maps."""
    negatives: Kind = "auto"
    """Negative captions: nouns of other captions (random), substitutes by a language model (plausible),
    without likely synonyms (reranked); auto is reranked with a trained language model, else none."""
    candidates: int = 30
    """Most likely substitutes that are re-ranked."""
    kept: Positive[int] = 25
    """Negative captions per caption."""
    word_weight: Weight[float] = 1.0
    """Weight of L_lang."""
    lr: Positive[float] = 1e-5
    """Learning rate of Adam."""
    phrase: Literal["all", "content"] = "all"
    """Tokens whose attention a phrase has the maximum of: all, or only nouns and adjectives."""
    select: Literal["pointing", "r1", "bound"] = "pointing"
    """Validation score that selects the weights; bound needs no boxes."""
    proposals: Positive[int] = 12
    """Proposals per image, where none were computed before (--regions)."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.word_width % self.word_heads:
            raise PolymodalError(
                f"word_width must be a multiple of word_heads, not {self.word_width} of "
                f"{self.word_heads}."
            )
        if self.candidates < self.kept:
            raise PolymodalError(
                f"Of {self.candidates} candidates no {self.kept} can be kept: give --kept "
                f"{self.candidates} or less, or more --candidates."
            )


def learn(config: Config, train: Dataset) -> dict[str, Any]:
    """The language model's words, and what the regions are described by."""
    texts = [text for own in captions_of(train) for text in own]
    if not texts:
        raise PolymodalError("The training split has no captions: there is nothing to learn from.")
    words = (
        small_language_model(
            texts, width=config.word_width, layers=config.word_layers, heads=config.word_heads
        )
        if config.words == OWN
        else describe_language_model(config.words)
    )
    return {"words": words, **described(train, config.proposals)}


def build(config: Config, learned: dict[str, Any]) -> Grounding:
    """The model, given what `learn` found."""
    words = LanguageModel(learned["words"])
    attention = WordRegionAttention(
        words=words.dim, regions=learned["region_width"], dim=config.dim, hidden=config.hidden
    )
    return Grounding(config=config, learned=learned, words=words, attention=attention)
