"""Critics: how well global features fit local ones, every image against every place of every other.

The three of Deep InfoMax (Hjelm et al., 2019), and one by cosines. Summaries [m, d] and local features
[n, c, h, w] give scores [m, n, h·w]; local features [n, c] without places give scores [m, n].
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import linear, normalize
from torch.utils.checkpoint import checkpoint

from polymodal.base.errors import PolymodalError, unknown
from polymodal.nn.dense import dense


class Dot(nn.Module):
    """g·l: one matrix product, and nothing to learn."""

    def __init__(self, *, summary: int, local: int) -> None:
        super().__init__()
        if summary != local:
            raise PolymodalError(
                "The dot critic takes global and local features of one width; "
                f"found {summary} and {local}. Bring them to one width, or choose encode-and-dot "
                "or concat-and-convolve."
            )
        self.widths = summary, local

    def forward(
        self, summary: Float[Tensor, "m d"], local: Float[Tensor, "n c *grid"]
    ) -> Float[Tensor, "m n ..."]:
        check_widths(self.widths, summary, local)
        return laid_out(product(summary, places(local)), local)


class EncodeAndDot(nn.Module):
    """f(g)·norm(f′(l)): both encoded, at each place alike, then one matrix product.

    With `scaled`, over the root of their width, so that scores begin about 1. As they are (Hjelm et al.)
    they begin about that root, where a bound has next to no slope for most of them.
    """

    def __init__(
        self, *, summary: int, local: int, hidden: int = 2048, scaled: bool = False
    ) -> None:
        super().__init__()
        self.widths = summary, local
        self.scale = hidden**-0.5 if scaled else 1.0
        self.summary = Encoded(summary, hidden)
        self.local = nn.Sequential(Encoded(local, hidden), nn.LayerNorm(hidden))

    def forward(
        self, summary: Float[Tensor, "m d"], local: Float[Tensor, "n c *grid"]
    ) -> Float[Tensor, "m n ..."]:
        check_widths(self.widths, summary, local)
        if self.training and min(len(summary), len(local)) < 2:
            raise PolymodalError(
                "In training, encode-and-dot normalises over a batch and needs 2 rows or more; "
                f"found {len(summary)} and {len(local)}. Give a larger batch, or call eval()."
            )
        return laid_out(self.compared(self.summary(summary), self.local(places(local))), local)

    def compared(
        self, summary: Float[Tensor, "m e"], local: Float[Tensor, "k e"]
    ) -> Float[Tensor, "m k"]:
        """The score of every row with every other."""
        return product(self.scale * summary, local)


class EncodeAndCosine(EncodeAndDot):
    """The same with the cosine of both in place of their product, over a temperature (Chen et al., 2020).

    Scores stay within its inverse, so that no bound can drift.
    """

    def __init__(
        self, *, summary: int, local: int, hidden: int = 2048, temperature: float = 0.1
    ) -> None:
        super().__init__(summary=summary, local=local, hidden=hidden)
        self.temperature = temperature

    def compared(
        self, summary: Float[Tensor, "m e"], local: Float[Tensor, "k e"]
    ) -> Float[Tensor, "m k"]:
        return product(normalize(wide(summary)) / self.temperature, normalize(wide(local)))


class NormedDot(nn.Module):
    """⟨LN f(g), LN f′(l)⟩ / √e: both sides encoded and layer-normalised, then one matrix product.

    Both sides have e numbers of mean 0 and variance 1, so that scores begin about 1. Nothing is
    normalised over the batch.
    """

    def __init__(self, *, summary: int, local: int, hidden: int = 1024, dim: int = 512) -> None:
        super().__init__()
        self.widths, self.scale = (summary, local), dim**-0.5
        self.summary = nn.Sequential(Shortcut(summary, hidden, dim), nn.LayerNorm(dim))
        self.local = nn.Sequential(Shortcut(local, hidden, dim), nn.LayerNorm(dim))

    def forward(
        self, summary: Float[Tensor, "m d"], local: Float[Tensor, "n c *grid"]
    ) -> Float[Tensor, "m n ..."]:
        check_widths(self.widths, summary, local)
        rows, columns = self.summary(summary), self.local(places(local))
        return laid_out(product(self.scale * rows, columns), local)


class Shortcut(nn.Module):
    """Wx + f(x): a linear map beside a hidden layer with ReLU."""

    def __init__(self, inputs: int, hidden: int, outputs: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs)
        )
        self.linear = nn.Linear(inputs, outputs, bias=False)

    def forward(self, x: Float[Tensor, "b d"]) -> Float[Tensor, "b e"]:
        encoded: Tensor = self.linear(x) + self.layers(x)
        return encoded


class Encoded(nn.Module):
    """Wx + f(x): a linear shortcut, at first a noisy copy, beside two layers with batch norm and ReLU."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(dense(inputs, outputs), nn.Linear(outputs, outputs))
        self.shortcut = nn.Linear(inputs, outputs, bias=False)
        with torch.no_grad():
            self.shortcut.weight.uniform_(-0.01, 0.01).fill_diagonal_(1.0)

    def forward(self, x: Float[Tensor, "b d"]) -> Float[Tensor, "b e"]:
        features: Tensor = self.layers(x) + self.shortcut(x)
        return features


class ConcatAndConvolve(nn.Module):
    """Three 1×1 convolutions of [g; l], the summary beside the local features of each place.

    The first is a sum of what it makes of either, so that only sums, never features, are paired. What
    follows it needs m·n·h·w·hidden numbers: they come in blocks of `bytes` at most, of which about
    three exist at a time, and are made again for the gradient.
    """

    def __init__(self, *, summary: int, local: int, hidden: int = 512, bytes: int = 2**26) -> None:
        super().__init__()
        self.widths, self.bytes = (summary, local), bytes
        self.first = nn.Linear(summary + local, hidden)
        self.rest = nn.Sequential(  # of sums that nothing else reads, so they are overwritten
            nn.ReLU(inplace=True),
            nn.Linear(hidden, hidden),
            nn.ReLU(inplace=True),
            nn.Linear(hidden, 1),
        )

    def forward(
        self, summary: Float[Tensor, "m d"], local: Float[Tensor, "n c *grid"]
    ) -> Float[Tensor, "m n ..."]:
        check_widths(self.widths, summary, local)
        rows, columns = self.halves(summary, places(local))
        tall, broad = self.block(rows, columns)
        bands = [
            torch.cat([self.scored(above, beside) for beside in columns.split(broad)], 1)
            for above in rows.split(tall)
        ]
        return laid_out(torch.cat(bands), local)

    def halves(
        self, summary: Float[Tensor, "*m d"], local: Float[Tensor, "*n c"]
    ) -> tuple[Float[Tensor, "*m e"], Float[Tensor, "*n e"]]:
        """What the first layer makes of either; of a pair it makes their sum."""
        of_summary, of_local = self.first.weight.split(self.widths, 1)
        return linear(summary, of_summary, self.first.bias), linear(local, of_local)

    def joined(
        self, rows: Float[Tensor, "*m e"], columns: Float[Tensor, "*n e"]
    ) -> Float[Tensor, "..."]:
        """The score of each half with the one beside it."""
        sums: Tensor = self.rest[0](rows + columns)
        scores: Tensor = self.rest[1:](sums.flatten(0, -2))  # a view is not overwritten for free
        return scores.view(sums.shape[:-1])

    def block(self, rows: Float[Tensor, "m e"], columns: Float[Tensor, "k e"]) -> tuple[int, int]:
        """How many rows and columns are paired at a time: whole rows where `bytes` allow it."""
        pairs = max(1, self.bytes // (rows.dtype.itemsize * rows.shape[1]))
        tall = max(1, min(len(rows), pairs // max(1, len(columns))))
        return tall, max(1, pairs // tall)

    def scored(
        self, rows: Float[Tensor, "m e"], columns: Float[Tensor, "k e"]
    ) -> Float[Tensor, "m k"]:
        """The scores of one block; nothing in it is random, so no random state is kept."""
        scores: Tensor = checkpoint(
            self.paired, rows, columns, use_reentrant=False, preserve_rng_state=False
        )
        return scores

    def paired(
        self, rows: Float[Tensor, "m e"], columns: Float[Tensor, "k e"]
    ) -> Float[Tensor, "m k"]:
        """What follows the first layer, of every row with every column."""
        return self.joined(rows[:, None], columns)


CRITICS: dict[str, Callable[..., nn.Module]] = {
    "concat-and-convolve": ConcatAndConvolve,
    "dot": Dot,
    "encode-and-dot": EncodeAndDot,
    "encode-and-cosine": EncodeAndCosine,
    "normed-dot": NormedDot,
}


def critic_named(name: str) -> Callable[..., nn.Module]:
    """The critic of a name, to be given the widths of `summary` and `local`, and `hidden` if it has one."""
    if name not in CRITICS:
        raise unknown("critic", name, CRITICS)
    return CRITICS[name]


def check_widths(widths: tuple[int, int], summary: Tensor, local: Tensor) -> None:
    """Refuse features whose widths are not those that the critic was built for."""
    given = summary.shape[1], local.shape[1]
    if given != widths:
        raise PolymodalError(
            f"This critic takes global features of {widths[0]} and local ones of {widths[1]} numbers "
            f"along the second axis; found {given[0]} and {given[1]}. Build it with "
            f"summary={given[0]}, local={given[1]}."
        )


def product(rows: Float[Tensor, "m e"], columns: Float[Tensor, "k e"]) -> Float[Tensor, "m k"]:
    """Every row times every column, in float32 or finer under autocast too: what most scores share is
    free under some bounds and grows, and rounded to bf16 it would drown what tells them apart."""
    with torch.autocast(rows.device.type, enabled=False):
        return wide(rows) @ wide(columns).T


def wide(values: Float[Tensor, "m e"]) -> Float[Tensor, "m e"]:
    """The same in float32, unless they are finer."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def places(local: Float[Tensor, "n c *grid"]) -> Float[Tensor, "k c"]:
    """Local features as rows, place by place within image by image."""
    return local.movedim(1, -1).flatten(0, -2)


def laid_out(
    scores: Float[Tensor, "m k"], local: Float[Tensor, "n c *grid"]
) -> Float[Tensor, "m n ..."]:
    """Scores by row, image and, where there are any, places."""
    if local.ndim == 2:
        return scores
    return scores.unflatten(1, (len(local), math.prod(local.shape[2:])))
