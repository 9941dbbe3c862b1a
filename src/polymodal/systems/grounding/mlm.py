"""A masked language model of captions (BERT): it tells hidden words from the words around them."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import Positive, check_count, check_ranges
from polymodal.data.batches import Batch, ColumnExamples, Held
from polymodal.data.pairs import Padded, captions_of
from polymodal.data.records import Dataset
from polymodal.data.tokens import Tokens
from polymodal.nn.language_models import (
    LanguageModel,
    describe_language_model,
    small_language_model,
)
from polymodal.systems.grounding.masking import hide
from polymodal.training.system import System

CAPTIONS_ALONE = True
"""Its data are opened without their pictures."""

OWN = "small"

BLOCK = 256
"""Captions that are scored at once."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """A masked language model of captions."""

    source: str = OWN
    """small (our own, over the training captions' words) or a model to fine-tune: a transformers model
    by hub id or folder, or a run of mlm; try --lr 5e-5 for those."""
    width: Positive[int] = 128
    """Dimension of a token's state in the small model."""
    layers: Positive[int] = 3
    """Layers of the small model."""
    heads: Positive[int] = 4
    """Attention heads per layer of the small model."""
    masked: float = 0.15
    """Share of a caption's tokens to predict."""
    lr: Positive[float] = 1e-3
    """Learning rate of AdamW, which rises for a tenth of the steps and then falls to 0."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if not 0 < self.masked < 1:
            raise PolymodalError(f"masked is a share between 0 and 1, not {self.masked}.")
        for name in ("width", "layers", "heads"):
            default = type(self).__dataclass_fields__[name].default
            if self.source != OWN and getattr(self, name) != default:
                raise PolymodalError(
                    f"{name} is a setting of the small model, but the source is {self.source}. "
                    f"Leave out --{name} or --source."
                )


def learn(config: Config, train: Dataset) -> dict[str, Any]:
    """The description of the language model: for the small one, the words of the training captions."""
    if config.source != OWN:
        return {"words": describe_language_model(config.source, head=True)}
    return {
        "words": small_language_model(
            all_captions(train), width=config.width, layers=config.layers, heads=config.heads
        )
    }


def build(config: Config, learned: dict[str, Any]) -> "CaptionModel":
    """The language model that `learn` described."""
    return CaptionModel(config, LanguageModel(learned["words"]))


@dataclass(frozen=True)
class CaptionBatch(Batch):
    """b captions."""

    tokens: Int[Tensor, "b t"]
    lengths: Int[Tensor, " b"]


class CaptionExamples(ColumnExamples):
    """All captions of a split; of its images nothing is read."""

    kind = CaptionBatch

    def __init__(self, dataset: Dataset, reader: Tokens) -> None:
        tokens, lengths = reader.encode_batch(all_captions(dataset))
        super().__init__(
            dataset, {"tokens": Padded(tokens, lengths.numpy()), "lengths": Held(lengths)}
        )
        self.count = len(lengths)

    def __len__(self) -> int:
        return self.count


class CaptionModel(System):
    """A language model that is trained on captions with hidden words."""

    monitor = "cross_entropy"
    better = "lower"
    can = frozenset({"fill"})
    ordinary: Tensor

    def __init__(self, config: Config, words: LanguageModel) -> None:
        super().__init__()
        self.config, self.words = config, words
        self.reader = Tokens.of(words.description)
        self.register_buffer("ordinary", words.ordinary(), persistent=False)

    def start(self, train: Dataset) -> None:
        """Take the weights of the source."""
        self.words.load_pretrained()

    def examples(self, dataset: Dataset) -> CaptionExamples:
        return CaptionExamples(dataset, self.reader)

    def told(
        self, batch: CaptionBatch, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        """What the model tells of the hidden tokens, as logits, and what they are."""
        mask = self.words.description["mask"]
        ordinary = self.ordinary.cpu() if generator else self.ordinary
        hidden = hide(
            batch.tokens, ordinary, mask=mask, share=self.config.masked, generator=generator
        )
        tokens, places = hidden.tokens.to(self.device), hidden.places.to(self.device)
        logits = self.words.logits_at(tokens, batch.lengths.to(self.device), places)
        return logits, batch.tokens[hidden.places].to(self.device)

    def training_step(self, batch: CaptionBatch, batch_idx: int) -> dict[str, Tensor]:
        """The cross-entropy of the hidden tokens."""
        loss = cross_entropy(*self.told(batch))
        return {"loss": loss, "shown": loss.detach()}

    def configure_optimizers(self) -> Any:
        adam = torch.optim.AdamW(self.parameters(), lr=self.config.lr)
        last = self.clock.last
        rise = max(last // 10, 1)
        slope = torch.optim.lr_scheduler.LambdaLR(
            adam, lambda step: min((step + 1) / rise, (last - step) / max(last - rise, 1))
        )
        return {"optimizer": adam, "lr_scheduler": {"scheduler": slope, "interval": "step"}}

    # Scores

    @torch.no_grad()
    def validate(self, dataset: Dataset) -> dict[str, float]:
        """Scores of words that are hidden the same way each time: cross-entropy in nats, its perplexity,
        how many are right (%), and how many would be if it always told the commonest one."""
        self.eval()
        generator = torch.Generator().manual_seed(0)
        parts = [self.told(batch, generator) for batch in self.examples(dataset).blocks(size=BLOCK)]
        right = [logits.argmax(1) == tokens for logits, tokens in parts]
        losses = [cross_entropy(*part, reduction="none") for part in parts]
        counts = torch.bincount(torch.cat([tokens for _, tokens in parts]))
        entropy = torch.cat(losses).double().mean()
        return {
            "cross_entropy": entropy.item(),
            "perplexity": entropy.exp().item(),
            "accuracy": 100 * torch.cat(right).double().mean().item(),
            "commonest": 100 * (counts.max() / counts.sum()).item(),
        }

    def evaluate(self, dataset: Dataset) -> dict[str, float]:
        return self.validate(dataset)

    def symptoms(self, scores: dict[str, float]) -> list[str]:
        if scores["accuracy"] > scores["commonest"] + 1:
            return []
        return [
            "The model tells hidden words no better than whoever always tells the commonest one: it "
            "reads no context. Train longer, or try another --lr."
        ]

    def protocol(self) -> dict[str, Any]:
        return {"masked": self.config.masked, "masks": "80 % mask, 10 % random, 10 % kept, seed 0"}

    # Use

    @torch.no_grad()
    def fill(self, text: str, first: int = 5) -> list[tuple[str, float]]:
        """The most likely tokens in place of the one [MASK] of a text, with their probabilities."""
        check_count("first", first, "how many tokens are given")
        mask = self.words.description["mask"]
        tokens, lengths = self.reader.encode_batch(
            [text.replace("[MASK]", self.reader.names[mask])]
        )
        places = tokens == mask
        if places.sum() != 1:
            raise PolymodalError(
                f"fill takes a text with one [MASK], such as 'a [MASK] red cube', not {text!r}."
            )
        self.eval()
        given = [given.to(self.device) for given in (tokens, lengths, places)]
        chance = self.words.logits_at(*given)[0].masked_fill(~self.ordinary, -torch.inf).softmax(0)
        best = chance.topk(min(first, int(self.ordinary.sum())))
        names = [self.reader.names[token] for token in best.indices.tolist()]
        return list(zip(names, best.values.tolist(), strict=True))


def all_captions(dataset: Dataset) -> list[str]:
    """The captions of a split one after another."""
    return [text for own in captions_of(dataset) for text in own]
