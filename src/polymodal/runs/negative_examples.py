"""Negative captions of some captions, with all that was considered for them, to be looked at."""

from dataclasses import dataclass

import numpy as np
import torch

from polymodal.base.errors import PolymodalError
from polymodal.base.hardware import usable
from polymodal.data.caption_tokens import CaptionTokens, read_captions
from polymodal.data.records import Dataset
from polymodal.data.tokens import Tokens
from polymodal.nn.language_models import LanguageModel, describe_language_model
from polymodal.runs.jobs import open_data
from polymodal.systems.grounding.negatives import candidates_of, single_nouns, substitutes


@dataclass(frozen=True)
class Substitute:
    """A word in the place of a noun: how likely it is there without and with a look at the noun."""

    word: str
    p: float
    q: float
    kept: bool
    itself: bool
    """Whether it is the noun itself."""


@dataclass(frozen=True)
class NegativeExample:
    """A caption, the characters [start, end) of its noun, and the substitutes, the best first."""

    text: str
    start: int
    end: int
    substitutes: tuple[Substitute, ...]


def negative_examples(
    source: str,
    data: str,
    *,
    split: str = "train",
    count: int = 12,
    seed: int = 0,
    rerank: bool = True,
    candidates: int = 30,
    kept: int = 25,
    device: str = "cpu",
    skip_bad: bool = False,
) -> list[NegativeExample]:
    """Some captions of a split, drawn at random, each with the substitutes of one of its nouns.

    Args:
        source: a run of `mlm`, or a masked language model of transformers.
        data: data with captions; of their pictures nothing is read.
        split: the split of the data.
        count: how many captions.
        seed: which captions, and which of their nouns.
        rerank: rank by p/q; otherwise by p alone.
        candidates: how many of the likeliest words are considered.
        kept: how many of them are kept.
        device: where to compute.
        skip_bad: leave out bad records of a folder.
    """
    if count < 1 or not 0 < kept <= candidates:
        raise PolymodalError(
            f"count must be 1 or more, and kept 1 to candidates, not {count}, {kept} and {candidates}."
        )
    if seed < 0:
        raise PolymodalError(f"seed must be 0 or more, not {seed}.")
    model = LanguageModel(describe_language_model(source)).to(usable(device))
    model.load_pretrained()
    splits = open_data(data, skip_bad=skip_bad, system="mlm")
    if split not in splits:
        raise PolymodalError(
            f"{data} has no split {split!r}, only {', '.join(splits)}. Give one of them: --split."
        )
    texts, places = chosen(splits[split], model, count, np.random.default_rng(seed))
    if not texts:
        raise PolymodalError(
            f"No caption of {data} has a noun that is one token of {source}: there is nothing to replace."
        )
    captions = read_captions(texts, model.description)
    nouns = torch.zeros_like(captions.tokens, dtype=torch.bool)
    nouns[torch.arange(len(texts)), places] = True
    found = candidates_of(
        model, captions.tokens, captions.lengths, nouns, substitutes(model), candidates
    )
    order, names = found.order(rerank), Tokens.of(model.description).names
    best = found.kept(kept, rerank)
    examples = []
    for row, (text, place) in enumerate(zip(texts, places, strict=True)):
        examples.append(
            NegativeExample(
                text,
                int(captions.starts[row, place]),
                int(captions.ends[row, place]),
                tuple(
                    Substitute(
                        names[token := int(found.tokens[row, rank])],
                        found.log_p[row, rank].exp().item(),
                        found.log_q[row, rank].exp().item(),
                        token in best[row].tolist(),
                        token == int(found.own[row]),
                    )
                    for rank in order[row].tolist()
                ),
            )
        )
    return examples


def chosen(
    dataset: Dataset, model: LanguageModel, count: int, chance: np.random.Generator
) -> tuple[list[str], list[int]]:
    """Captions of different images, and in each the place of a noun that is one token."""
    texts, places = [], []
    for item in chance.permutation(len(dataset)).tolist():
        said = dataset.captions(item)
        if not said:
            continue
        text = said[chance.integers(len(said))].text
        captions: CaptionTokens = read_captions([text], model.description)
        nouns = single_nouns(captions, model)[0].nonzero()[:, 0].tolist()
        if nouns:
            texts.append(text)
            places.append(int(chance.choice(nouns)))
        if len(texts) == count:
            break
    return texts, places
