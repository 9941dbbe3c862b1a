"""Tokens of a pretrained tokenizer: what `Vocabulary` is to our own text encoder, to a text model."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxtyping import Int64
    from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """A tokenizer as JSON (the `tokenizer.json` of its model), so that a run needs nothing else."""

    tokenizer: str = field(repr=False)
    pad: int
    """The number of the padding token."""
    longest: int
    """The most tokens that the model takes; longer texts are cut off."""
    whole: bool = False
    """Always pad to the longest and count the padding as text, as SigLIP was trained."""

    @cached_property
    def _encoder(self) -> Any:
        from tokenizers import Tokenizer

        encoder = Tokenizer.from_str(self.tokenizer)
        encoder.no_padding()
        encoder.enable_truncation(self.longest)
        return encoder

    def encode_batch(
        self, texts: Sequence[str]
    ) -> "tuple[Int64[Tensor, 'b t'], Int64[Tensor, ' b']]":
        """Encode several texts, padded to the longest, and their lengths, of one token at least."""
        import torch

        rows = [found.ids for found in self._encoder.encode_batch(list(texts))]
        lengths = [self.longest if self.whole else max(len(row), 1) for row in rows]
        wide = max(lengths, default=0)
        tokens = torch.tensor([row + [self.pad] * (wide - len(row)) for row in rows])
        return tokens.long().reshape(len(rows), wide), torch.tensor(lengths).long()
