"""A residual convolutional network over the words of a report: local features of each, and a global one."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn


class ReportEncoder(nn.Module):
    """Word vectors, a convolution, and residual blocks of two (in the manner of 003, §8.3.3).

    The global feature is the largest value of each map over the words. What is not a word is 0 and
    changes nothing.
    """

    def __init__(
        self, *, words: int, dim: int, width: int, blocks: int = 3, frozen: bool = False
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, dim, padding_idx=0)
        self.embed.weight.requires_grad_(not frozen)
        self.stem = nn.Conv1d(dim, width, 3, padding=1)
        self.blocks = nn.ModuleList(ResidualWords(width) for _ in range(blocks))
        self.dim = width

    def forward(
        self, tokens: Int[Tensor, "b t"], lengths: Int[Tensor, " b"]
    ) -> Float[Tensor, "b c t"]:
        """The local features of each word, before they are pooled."""
        there = words_of(tokens, lengths)[:, None]
        maps = self.stem(self.embed(tokens).transpose(1, 2) * there) * there
        for block in self.blocks:
            maps = maps + block(maps, there)
        found: Tensor = torch.relu(maps) * there
        return found


class ResidualWords(nn.Module):
    """Two convolutions over neighbouring words, each behind a layer norm of every word and ReLU."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.convs = nn.ModuleList(nn.Conv1d(width, width, 3, padding=1) for _ in range(2))

    def forward(
        self, maps: Float[Tensor, "b c t"], there: Bool[Tensor, "b 1 t"]
    ) -> Float[Tensor, "b c t"]:
        for norm, conv in zip(self.norms, self.convs, strict=True):
            seen = torch.relu(norm(maps.transpose(1, 2))).transpose(1, 2)
            maps = conv(seen * there) * there
        return maps


def words_of(tokens: Int[Tensor, "b t"], lengths: Int[Tensor, " b"]) -> Bool[Tensor, "b t"]:
    """Which places hold words of a text.

    >>> words_of(torch.zeros(1, 3, dtype=torch.long), torch.tensor([2])).tolist()
    [[True, True, False]]
    """
    return torch.arange(tokens.shape[1], device=tokens.device) < lengths[:, None]
