"""Judges read words in pictures; trained on real ones, they say what generated ones show (004, §5.4).

Where each place of a text has words of its own, the order of its objects follows from its relation
word: a judge is given that word and reads the others. Where words are a bag, it says how likely each is.
"""

import math
from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn

from polymodal.nn.residual import ImageEncoder

WINDOW = 0.05
"""How far about its place an object is looked at: the deviation of a Gaussian, in sides of the picture."""

DOUBT = math.log(2)
"""How much better, in nats, the words must fit the opposite order before a relation is wrong."""


class PlaceReader(nn.Module):
    """The word at each place of a text, given its relation word, and where its objects are seen.

    The picture's code and the relation word tell where the text's first and second object are; words
    are read from both and from the encoder's maps about those places, which needs far fewer pictures
    to learn from than the code alone. Where no objects' places are known, there is only the code.

    Args:
        encoder: pictures of values in [0, 1] to codes.
        allowed: which words occur at which place.
        relation: the place of the relation word, where texts have one.
        opposites: each relation word and the one that holds when the two objects change places.
        objects: how many objects' places in the picture are known.
        hidden: the width of the layers after the encoder.
    """

    allowed: Bool[Tensor, "t v"]
    others: Int[Tensor, " o"]
    opposite: Int[Tensor, " v"]

    def __init__(
        self,
        *,
        encoder: ImageEncoder,
        allowed: Bool[Tensor, "t v"],
        relation: int | None = None,
        opposites: Mapping[int, int] | None = None,
        objects: int = 0,
        hidden: int = 400,
    ) -> None:
        super().__init__()
        t, v = allowed.shape
        self.relation, self.objects, self.size = relation, objects, encoder.size
        layers: list[Any] = list(encoder.maps)
        *maps, last = layers
        self.maps = nn.Sequential(*maps)
        self.code = nn.Sequential(last, nn.Flatten(), encoder.head, nn.ReLU())
        self.first = nn.Linear(encoder.dim, hidden)
        self.given = nn.Embedding(v, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.places = nn.Linear(hidden, 2 * objects) if objects else None
        self.third = nn.Linear(hidden + objects * last.in_channels, hidden)
        self.words = nn.Linear(hidden, t * v)
        opposite = torch.full((v,), -1)
        for word, other in (opposites or {}).items():
            opposite[word] = other
        others = torch.tensor([place for place in range(t) if place != relation])
        self.register_buffer("allowed", allowed, persistent=False)
        self.register_buffer("others", others, persistent=False)
        self.register_buffer("opposite", opposite, persistent=False)

    def forward(
        self, pictures: Shaped[Tensor, "b 3 h w"], relations: Int[Tensor, "b k"]
    ) -> tuple[Float[Tensor, "b k t v"], Float[Tensor, "b k o 2"]]:
        """The words' log-probabilities under each of k relation words, and the objects' places in the
        same order, in sides of the picture from its left and top."""
        maps = self.maps(floats(pictures))
        joined = torch.relu(self.first(self.code(maps))[:, None] + self.given(relations))
        hidden = torch.relu(self.second(joined)).float()
        places = hidden.new_zeros(*relations.shape, 0, 2)
        if self.places is not None:  # which starts amid the picture
            places = 0.5 + self.places(hidden).float().unflatten(-1, (self.objects, 2))
        there = mean_about(maps.float(), places.detach()).flatten(2)
        hidden = torch.relu(self.third(torch.cat([hidden, there], -1)))
        logits = self.words(hidden).float().unflatten(-1, self.allowed.shape)
        return logits.masked_fill(~self.allowed, -torch.inf).log_softmax(-1), places

    def relations(self, texts: Int[Tensor, "b k t"]) -> Int[Tensor, "b k"]:
        """The relation words of some texts; of one that says none, any: the first that there is."""
        if self.relation is None:
            return torch.zeros_like(texts[..., 0])
        said = texts[..., self.relation]
        known = self.opposite >= 0
        return torch.where(known[said], said, known.int().argmax())

    def turned(self, texts: Int[Tensor, "b k t"]) -> Int[Tensor, "b k t"]:
        """The texts with the opposite relation word, where they have one: false of a picture that they
        are true of, unless its objects are twins."""
        texts = texts.clone()
        if self.relation is not None:
            texts[..., self.relation] = self.opposite[self.relations(texts)]
        return texts

    def likely(
        self, words: Float[Tensor, "b k t v"], texts: Int[Tensor, "b k t"]
    ) -> Float[Tensor, "b k o"]:
        """The log-probability of each word of the texts, but for the relation words."""
        said = texts.index_select(-1, self.others)
        return words.index_select(-2, self.others).gather(-1, said[..., None]).squeeze(-1)

    def read(
        self, pictures: Shaped[Tensor, "b 3 h w"], texts: Int[Tensor, "b k t"]
    ) -> tuple[Int[Tensor, "b k t"], Float[Tensor, "b k o 2"]]:
        """What k texts a picture should have said, given their relation words, and where the objects are.

        A relation word is read as it is said, and as its opposite where the text's other words are more
        than twice as likely in the opposite order of objects: so any holds between twins.
        """
        asked = self.relations(texts)
        if self.relation is None:
            words, places = self(pictures, asked)
            return words.argmax(-1), places
        other = self.opposite[asked]
        words, places = self(pictures, torch.cat([asked, other], 1))
        k = texts.shape[1]
        likely = self.likely(words, torch.cat([texts, texts], 1))
        # a word that no text has at this place says nothing of the order
        fit = likely.masked_fill(likely == -torch.inf, 0.0).sum(-1)
        read = words[:, :k].argmax(-1)
        read[..., self.relation] = torch.where(fit[:, k:] > fit[:, :k] + DOUBT, other, asked)
        return read, places[:, :k]


class BagReader(nn.Module):
    """How likely each word of the vocabulary is to be said of a picture, whatever the order.

    Args:
        encoder: pictures of values in [0, 1] to codes.
        words: the size of the vocabulary.
        hidden: the width of the layer between.
    """

    def __init__(self, *, encoder: ImageEncoder, words: int, hidden: int = 400) -> None:
        super().__init__()
        self.encoder, self.size = encoder, encoder.size
        self.layers = nn.Sequential(
            nn.ReLU(), nn.Linear(encoder.dim, hidden), nn.ReLU(), nn.Linear(hidden, words)
        )

    def forward(self, pictures: Shaped[Tensor, "b 3 h w"]) -> Float[Tensor, "b v"]:
        """The logit of each word."""
        logits: Tensor = self.layers(self.encoder(floats(pictures)))
        return logits.float()


def mean_about(
    maps: Float[Tensor, "b c h w"], places: Float[Tensor, "b k o 2"]
) -> Float[Tensor, "b k o c"]:
    """The mean of each map about each place, weighed by a Gaussian, whose two axes are apart."""
    weights = []
    for axis, cells in enumerate(reversed(maps.shape[2:])):
        middles = (torch.arange(cells, device=maps.device, dtype=maps.dtype) + 0.5) / cells
        away = (middles - places[..., axis, None]) / WINDOW
        weights.append((-0.5 * away.square()).softmax(-1))
    across, down = weights
    return torch.einsum("bchw,bkoh,bkow->bkoc", maps, down, across)


def floats(pictures: Shaped[Tensor, "b 3 h w"]) -> Float[Tensor, "b 3 h w"]:
    """Pictures as values in [0, 1]: generated ones as they are, real ones from bytes."""
    return pictures / 255 if pictures.dtype == torch.uint8 else pictures


def words_said(texts: Int[Tensor, "b *k t"], words: int) -> Bool[Tensor, "b v"]:
    """Which words any text of a picture says.

    >>> words_said(torch.tensor([[0, 2, 2]]), 4)
    tensor([[ True, False,  True, False]])
    """
    there = torch.zeros(len(texts), words, dtype=torch.bool, device=texts.device)
    return there.scatter(1, texts.flatten(1), True)
