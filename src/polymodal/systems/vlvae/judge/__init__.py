"""Judge: a classifier that checks whether generated images match their texts (004, §5.4).

It has the architecture of the image encoder and is trained only on real images. If each position
of a text has its own words (two-objects, one-object), it is given the relation word and reads
the other words and the objects' positions. If words are a bag (CelebA, CUB), it predicts the
probability of each.
"""

from collections.abc import Sequence
from typing import Any

import torch

from polymodal.base.errors import PolymodalError
from polymodal.data.fixed_words import Words
from polymodal.data.image_texts import words_of
from polymodal.data.located_texts import LocatedTexts
from polymodal.data.records import Dataset
from polymodal.metrics.correctness import RELATION
from polymodal.nn.residual import ImageEncoder
from polymodal.nn.word_readers import BagReader, PlaceReader
from polymodal.systems.vlvae.judge.bag_judge import BagJudge
from polymodal.systems.vlvae.judge.judge_module import Judge
from polymodal.systems.vlvae.judge.judge_settings import Config
from polymodal.systems.vlvae.judge.place_judge import PlaceJudge

__all__ = ["Config", "build", "learn"]

OPPOSITES = {"left": "right", "right": "left", "front": "behind", "behind": "front"}
"""The relation that holds when the two objects are swapped."""


def learn(config: Config, train: Dataset) -> dict[str, Any]:
    """The vocabulary; if each position has its own words, also those words and the number of
    objects with known positions."""
    if not len(train):
        raise PolymodalError("The training split is empty: there is nothing to learn from.")
    words = words_of(train)
    learned = {"size": train.images([0]).shape[1], "words": words.as_json()}
    if config.words == "bag" or (config.words == "auto" and words.shortest < words.length):
        return learned
    examples = LocatedTexts(train, words)
    at = [examples.texts[..., place].unique().tolist() for place in range(words.length)]
    return learned | {"at": at, "objects": examples.places.shape[2]}


def build(config: Config, learned: dict[str, Any]) -> Judge:
    """The judge of words at fixed positions, or of a bag of words."""
    words = Words.from_json(learned["words"])
    encoder = ImageEncoder(size=learned["size"], width=config.width, code=config.code)
    if "at" not in learned:
        bag = BagReader(encoder=encoder, words=len(words), hidden=config.hidden)
        return BagJudge(config, words, bag)
    attributes = named_places([[words.words[n] for n in numbers] for numbers in learned["at"]])
    allowed = torch.zeros(words.length, len(words), dtype=torch.bool)
    for place, numbers in enumerate(learned["at"]):
        allowed[place, numbers] = True
    (relation,) = attributes.get(RELATION, [None])
    known = words.numbers
    reader = PlaceReader(
        encoder=encoder,
        allowed=allowed,
        relation=relation,
        opposites={known[a]: known[b] for a, b in OPPOSITES.items() if {a, b} <= known.keys()},
        objects=learned["objects"],
        hidden=config.hidden,
    )
    return PlaceJudge(config, words, reader, attributes)


def named_places(at: Sequence[Sequence[str]]) -> dict[str, list[int]]:
    """The positions of each attribute, found from the words that occur there; a relation has one.

    >>> named_places([["small"], ["left", "right"], ["large", "small"], ["big"]])
    {'size': [0, 2], 'relation': [1], 'word_4': [3]}
    """
    from polymodal.data.drawn.scenes.attributes import KINDS

    relations = [
        p for p, words in enumerate(at) if {OPPOSITES.get(word) for word in words} == set(words)
    ]
    places: dict[str, list[int]] = {}
    for place, words in enumerate(at):
        name = next((kind for kind, known in KINDS.items() if set(words) <= set(known)), None)
        if relations == [place]:
            name = RELATION
        places.setdefault(name or f"word_{place + 1}", []).append(place)
    return places
