"""The two losses of word–region attention: the true image among others, the true word among others (002)."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy


def image_loss(
    scores: Float[Tensor, "n b"], pair: Int[Tensor, " n"], owner: Int[Tensor, " b"]
) -> Float[Tensor, " n"]:
    """−log of the share of a word's own image among the images of the batch, for each word (002, eq. 8).

    Column j is the image of pair j. Other pairs of the same image, whose captions tell of it too, are no
    negatives.

    Args:
        scores: φ of every word with every image.
        pair: the pair that each word is of.
        owner: the image of each pair.
    """
    twins = owner[:, None] == owner
    twins.fill_diagonal_(False)
    return cross_entropy(scores.masked_fill(twins[pair], -torch.inf), pair, reduction="none")


def word_loss(scores: Float[Tensor, "b k"], there: Bool[Tensor, "b k"]) -> Float[Tensor, ""]:
    """−log of the share of an image's true word, the first, among its substitutes (002, eq. 9).

    The mean over captions that have a substitute; 0 where none has.
    """
    counted = there[:, 0] & there[:, 1:].any(1)
    if not counted.any():
        return scores.sum() * 0.0
    logits = scores.masked_fill(~there, -torch.inf)[counted]
    return -logits.log_softmax(1)[:, 0].mean()
