"""What a user asks of a model of grounding, refused where the model cannot know what is meant."""

from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.caption_tokens import CaptionTokens, read_captions
from polymodal.data.records import Phrase
from polymodal.systems.grounding.grounded import marked, noun_phrases
from polymodal.systems.grounding.phrases import tokens_of


def asked(caption: Any, description: Mapping[str, Any]) -> tuple[str, tuple[Phrase, ...]]:
    """The text of a user's caption, and its phrases, which have a word that the model knows.

    Args:
        caption: what the user gives.
        description: that of the language model.
    """
    if not isinstance(caption, str):
        raise PolymodalError(
            f"A caption is a text, such as 'a red cube beside [a small ball]', not {caption!r}."
        )
    text, phrases = marked(caption)
    captions = read_captions([text], description)
    phrases = phrases or noun_phrases(text, captions)
    unknown = unknown_tokens(captions, description)[0]
    tokens = tokens_of(captions, torch.zeros(len(phrases), dtype=torch.long), phrases)
    for phrase, own in zip(phrases, tokens, strict=True):
        said = text[phrase.start : phrase.end]
        if own.any():
            continue
        if captions.lengths[0] < description["longest"]:
            raise PolymodalError(f"The phrase {said!r} has no words. Put brackets around words.")
        raise PolymodalError(
            f"The model reads the first {description['longest']} tokens of a caption, but {said!r} "
            "comes after them. Shorten the caption."
        )
    if unknown[tokens.any(0)].all():
        said = ", ".join(repr(text[phrase.start : phrase.end]) for phrase in phrases)
        raise PolymodalError(
            f"The model knows no word of {said}: it has seen those of its training captions alone. "
            "Use their words."
        )
    return text, phrases


def unknown_words(
    text: str, captions: CaptionTokens, description: Mapping[str, Any]
) -> tuple[str, ...]:
    """The words of the one caption that the model has never seen."""
    strange = unknown_tokens(captions, description)[0]
    spans = zip(
        captions.starts[0][strange].tolist(), captions.ends[0][strange].tolist(), strict=True
    )
    return tuple(dict.fromkeys(text[start:end] for start, end in spans))


def unknown_tokens(captions: CaptionTokens, description: Mapping[str, Any]) -> Bool[Tensor, "n t"]:
    """Which tokens stand for what the language model does not know."""
    number = description["unknown"]
    return captions.tokens == (-1 if number is None else number)
