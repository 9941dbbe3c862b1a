"""An LSTM that writes a report of an image word by word, and looks at a part of it for each word."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from polymodal.data.vocabulary import END, PAD, START
from polymodal.nn.report_encoder import words_of


@dataclass(frozen=True)
class Written:
    """What passed while a report was read or written: a state, a look and the next word for each word."""

    states: Float[Tensor, "b t h"]
    looks: Float[Tensor, "b t p"]
    """How much it looked at each place of the image; sums to 1."""
    logits: Float[Tensor, "b t v"]
    """Of the word that follows."""
    there: Bool[Tensor, "b t"]
    """Which places of the text there are."""


class ReportWriter(nn.Module):
    """p(next word | words so far, image), with soft attention to the image (Xu et al., 2015)."""

    def __init__(
        self, *, words: int, dim: int, maps: int, hidden: int, frozen: bool = False
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, dim, padding_idx=PAD)
        self.embed.weight.requires_grad_(not frozen)
        self.cell = nn.LSTMCell(dim + maps, hidden)
        self.begin = nn.Linear(maps, 2 * hidden)
        self.of_place, self.of_state = nn.Linear(maps, hidden), nn.Linear(hidden, hidden)
        self.look = nn.Linear(hidden, 1)
        self.head = nn.Linear(hidden, words)
        self.dim = hidden

    def forward(
        self,
        places: Float[Tensor, "b p c"],
        tokens: Int[Tensor, "b t"],
        lengths: Int[Tensor, " b"],
    ) -> Written:
        """A true report is read: at each of its words but the last, what follows is predicted."""
        state, keys = self.start(places)
        each = []
        for t in range(max(1, tokens.shape[1] - 1)):
            state, look = self.step(places, keys, tokens[:, t], state)
            each.append((state[0], look))
        return self.written(each, words_of(tokens[:, : len(each)], (lengths - 1).clamp(min=1)))

    @torch.no_grad()
    def write(
        self, places: Float[Tensor, "b p c"], longest: int
    ) -> tuple[Int[Tensor, "b t"], Written]:
        """The likeliest word at each place, until all reports have ended."""
        state, keys = self.start(places)
        word = torch.full((len(places),), START, device=places.device)
        going = torch.ones_like(word, dtype=torch.bool)
        each, there, said = [], [], [word]
        for _ in range(longest - 1):
            state, look = self.step(places, keys, word, state)
            each.append((state[0], look))
            there.append(going)
            word = self.head(state[0]).argmax(1).masked_fill(~going, PAD)
            said.append(word)
            going = going & (word != END)
            if not going.any():
                break
        return torch.stack(said, 1), self.written(each, torch.stack(there, 1))

    def start(
        self, places: Float[Tensor, "b p c"]
    ) -> tuple[tuple[Tensor, Tensor], Float[Tensor, "b p h"]]:
        """The state before the first word, and what is computed of each place once."""
        first, memory = torch.tanh(self.begin(places.mean(1))).chunk(2, 1)
        return (first, memory), self.of_place(places)

    def step(
        self,
        places: Float[Tensor, "b p c"],
        keys: Float[Tensor, "b p h"],
        word: Int[Tensor, " b"],
        state: tuple[Tensor, Tensor],
    ) -> tuple[tuple[Tensor, Tensor], Float[Tensor, "b p"]]:
        """One word on: where the state before it makes it look, and the state after it."""
        asked = torch.tanh(keys + self.of_state(state[0])[:, None])
        look = self.look(asked).squeeze(-1).softmax(1)
        seen = torch.einsum("bp,bpc->bc", look, places)
        after: tuple[Tensor, Tensor] = self.cell(torch.cat([self.embed(word), seen], 1), state)
        return after, look

    def written(self, each: list[tuple[Tensor, Tensor]], there: Tensor) -> Written:
        """All words' states and looks."""
        states, looks = (torch.stack(own, 1) for own in zip(*each, strict=True))
        return Written(states, looks, self.head(states), there)
