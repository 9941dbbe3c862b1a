"""Tokens of a pretrained tokenizer: what `Vocabulary` is to our own text encoder, to a text model."""

from collections.abc import Mapping, Sequence
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

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> "Tokens":
        """Those of a text model, by its description."""
        return cls(**{name: description[name] for name in cls.__dataclass_fields__})

    @cached_property
    def _encoder(self) -> Any:
        from tokenizers import Tokenizer

        encoder = Tokenizer.from_str(self.tokenizer)
        encoder.no_padding()
        encoder.enable_truncation(self.longest)
        return encoder

    @cached_property
    def names(self) -> list[str]:
        """Each token as the tokenizer writes it, by its number."""
        numbers: dict[str, int] = self._encoder.get_vocab(with_added_tokens=True)
        names = [""] * (max(numbers.values(), default=-1) + 1)
        for name, number in numbers.items():
            names[number] = name
        return names

    def read(self, texts: Sequence[str]) -> list[Any]:
        """Each text's tokens as `tokenizers` has them, with their places in it."""
        encodings: list[Any] = self._encoder.encode_batch(list(texts))
        return encodings

    def encode_batch(
        self, texts: Sequence[str]
    ) -> "tuple[Int64[Tensor, 'b t'], Int64[Tensor, ' b']]":
        """Encode several texts, padded to the longest, and their lengths, of one token at least."""
        return self.padded(self.read(texts))

    def padded(self, read: Sequence[Any]) -> "tuple[Int64[Tensor, 'b t'], Int64[Tensor, ' b']]":
        """What was read as tokens and lengths."""
        import torch

        lengths = [self.longest if self.whole else max(len(encoding), 1) for encoding in read]
        wide = max(lengths, default=0)
        return table([encoding.ids for encoding in read], wide, self.pad), torch.tensor(
            lengths
        ).long()


def table(rows: Sequence[Sequence[int]], wide: int, fill: int) -> "Int64[Tensor, 'b t']":
    """Rows of numbers, filled up to one width."""
    import torch

    filled = [[*row, *[fill] * (wide - len(row))] for row in rows]
    return torch.tensor(filled).long().reshape(len(rows), wide)
