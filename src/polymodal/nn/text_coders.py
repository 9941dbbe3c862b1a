"""Texts of a fixed number of words: encoded to a vector, and decoded from one word by word (004, §5.1).

A decoder is taught with the true words before each place (`forward`) and speaks with its own
(`decode`). The word before the first is one that no text holds.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from polymodal.nn.dense import three_layers


class Recurrence(nn.GRU):
    """A GRU that is in training mode always, as cuDNN's backward pass demands.

    Without dropout both modes compute the same. So a decoder may be frozen, its batch norm and dropout
    in evaluation, and gradients still reach what it decodes: `decoder.requires_grad_(False).eval()`.
    """

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__(inputs, hidden, batch_first=True)

    def train(self, mode: bool = True) -> "Recurrence":
        super().train(True)
        return self


class TextEncoder(nn.Module):
    """The state of a GRU after the last word (004, §5.1)."""

    def __init__(self, *, words: int, code: int = 200, embedding: int = 64) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, embedding)
        self.gru = Recurrence(embedding, code)
        self.dim = code

    def forward(self, texts: Int[Tensor, "b t"]) -> Float[Tensor, "b d"]:
        _, last = self.gru(self.embed(texts))
        return last[0]


class TextDecoder(nn.Module):
    """p(y|z) = ∏ p(yₜ | y₁ … yₜ₋₁, code): a GRU and three layers on its state (004, §5.1).

    Every step of the GRU sees the word before, its own state and the code.
    """

    def __init__(
        self,
        *,
        words: int,
        code: int = 200,
        dropout: float = 0.1,
        embedding: int = 64,
        state: int | None = None,
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(words + 1, embedding)  # the last comes before the first word
        state = state or code
        self.gru = Recurrence(embedding + code, state)
        self.head = three_layers(state, state, words, dropout)
        self.start = words

    def forward(
        self, code: Float[Tensor, "b d"], texts: Int[Tensor, "b t"]
    ) -> Float[Tensor, "b t v"]:
        """The logits of the word at each place, given the true words before it."""
        seen = self.embed(before(texts, self.start))
        repeated = code[:, None].expand(-1, texts.shape[1], -1)
        states, _ = self.gru(torch.cat([seen, repeated], -1))
        # one batch of all places, so that batch norm has the same moments at each
        logits: Tensor = self.head(states.flatten(0, 1))
        return logits.unflatten(0, texts.shape)

    @torch.no_grad()
    def decode(
        self, code: Float[Tensor, "b d"], length: int, generator: torch.Generator | None = None
    ) -> tuple[Int[Tensor, "b t"], Float[Tensor, "b t v"]]:
        """Texts word by word and the probabilities they were chosen by, in evaluation mode.

        The likeliest word is taken, or with a generator one by its probability.
        """
        word = torch.full((len(code),), self.start, device=code.device)
        state, said, chances = None, [], []
        for _ in range(length):
            seen = torch.cat([self.embed(word), code], -1)
            states, state = self.gru(seen[:, None], state)
            chances.append(self.head(states[:, 0]).float().softmax(-1))
            word = choose(chances[-1], generator)
            said.append(word)
        return torch.stack(said, 1), torch.stack(chances, 1)


class TransformerDecoder(nn.Module):
    """The same likelihood by a causal transformer, which sees the code at every place (not in 004)."""

    def __init__(
        self,
        *,
        words: int,
        code: int = 200,
        dropout: float = 0.1,
        width: int = 128,
        layers: int = 2,
        heads: int = 4,
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(words + 1, width)  # the last comes before the first word
        self.tell = nn.Linear(code, width)
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout, "gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, words))
        self.start = words

    def forward(
        self, code: Float[Tensor, "b d"], texts: Int[Tensor, "b t"]
    ) -> Float[Tensor, "b t v"]:
        """The logits of the word at each place, given the true words before it."""
        seen = self.embed(before(texts, self.start))
        t, width = seen.shape[1:]
        seen = seen + self.tell(code)[:, None] + places(t, width, seen.device)
        later = torch.ones(t, t, dtype=torch.bool, device=seen.device).triu(1)
        logits: Tensor = self.head(self.layers(seen, mask=later, is_causal=True))
        return logits

    @torch.no_grad()
    def decode(
        self, code: Float[Tensor, "b d"], length: int, generator: torch.Generator | None = None
    ) -> tuple[Int[Tensor, "b t"], Float[Tensor, "b t v"]]:
        """Texts word by word and the probabilities they were chosen by, in evaluation mode.

        The likeliest word is taken, or with a generator one by its probability.
        """
        said = torch.zeros(len(code), length, dtype=torch.long, device=code.device)
        chances = []
        for t in range(length):  # the word at t and those after it are not seen
            chances.append(self(code, said[:, : t + 1])[:, t].float().softmax(-1))
            said[:, t] = choose(chances[-1], generator)
        return said, torch.stack(chances, 1)


def before(texts: Int[Tensor, "b t"], start: int) -> Int[Tensor, "b t"]:
    """The word before each word.

    >>> before(torch.tensor([[4, 5, 6]]), start=9)
    tensor([[9, 4, 5]])
    """
    return torch.cat([torch.full_like(texts[:, :1], start), texts[:, :-1]], 1)


def choose(chances: Float[Tensor, "b v"], generator: torch.Generator | None) -> Int[Tensor, " b"]:
    """The likeliest word, or with a generator one drawn by its probability."""
    if generator is None:
        return chances.argmax(-1)
    return chances.multinomial(1, generator=generator)[:, 0]


def places(count: int, width: int, device: torch.device) -> Float[Tensor, "t d"]:
    """Sines and cosines of each place, of wavelengths from 2π to 20000π (Vaswani et al., 2017, §3.5)."""
    rates = torch.exp(torch.arange(0, width, 2, device=device) * (-math.log(1e4) / width))
    angles = torch.arange(count, device=device)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], 1)
