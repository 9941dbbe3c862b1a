"""The false words of a training step: one noun of each caption, and what stands in its place (002, §2.4)."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from polymodal.nn.language_models import LanguageModel
from polymodal.systems.grounding.grounding_batches import GroundingBatch


@dataclass(frozen=True)
class Choice:
    """For each caption a true word and its substitutes, the true one first."""

    states: Float[Tensor, "b k w"]
    there: Bool[Tensor, "b k"]


def one_of(there: Bool[Tensor, "b m"]) -> Int[Tensor, " b"]:
    """One of those that are there, at random; the first where none is."""
    return torch.rand(there.shape, device=there.device).masked_fill(~there, -1.0).argmax(1)


def substituted(
    model: LanguageModel, batch: GroundingBatch, states: Float[Tensor, "b t w"]
) -> Choice | None:
    """A noun of each caption in its context, and its substitutes in the same; None without substitutes."""
    if not batch.substitutes.numel():
        return None
    rows = torch.arange(len(batch), device=states.device)
    noun = one_of(batch.places >= 0)
    place, words = batch.places[rows, noun], batch.substitutes[rows, noun]
    there = (place >= 0)[:, None] & (words >= 0)
    k, at = words.shape[1], place.clamp(min=0)
    captions = batch.tokens[:, None].repeat(1, k, 1)
    captions.scatter_(2, at[:, None, None].expand(-1, k, 1), words.clamp(min=0)[..., None])
    false = model.states(captions.flatten(0, 1), batch.lengths.repeat_interleave(k))
    false = false[torch.arange(len(false), device=at.device), at.repeat_interleave(k)]
    return Choice(
        torch.cat([states[rows, at][:, None], false.unflatten(0, (len(batch), k))], 1),
        torch.cat([(place >= 0)[:, None], there], 1),
    )


def chosen_nouns(
    kinds: Int[Tensor, "b t"], pair: Int[Tensor, " n"], place: Int[Tensor, " n"]
) -> Int[Tensor, " b"]:
    """One noun of each caption, as its number among n words of all captions; −1 where there is none."""
    nouns = kinds == 1
    number = torch.full_like(kinds, -1)
    number[pair, place] = torch.arange(len(pair), device=kinds.device)
    found = number.gather(1, one_of(nouns)[:, None])[:, 0]
    return torch.where(nouns.any(1), found, -1)


def random_words(
    scores: Float[Tensor, "n b"], noun: Int[Tensor, " b"], owner: Int[Tensor, " b"], kept: int
) -> tuple[Float[Tensor, "b k"], Bool[Tensor, "b k"]]:
    """φ of each image with the noun of its own caption, first, and with those of `kept` other captions of
    the batch, each in its own context; and which of these there are."""
    by_image = scores[noun.clamp(min=0)].T
    there = (noun >= 0)[None] & (owner[:, None] != owner)
    order = torch.rand(there.shape, device=there.device).masked_fill(~there, -1.0)
    some = order.topk(min(kept, len(owner)), 1).indices
    own = torch.arange(len(owner), device=owner.device)[:, None]
    return (
        torch.cat([by_image.gather(1, own), by_image.gather(1, some)], 1),
        torch.cat([(noun >= 0)[:, None], there.gather(1, some)], 1),
    )
