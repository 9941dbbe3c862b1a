"""Losses of segmentations, of those items alone of which something is seen and the mask is known."""

from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot


def segmentation_loss(
    logits: Float[Tensor, "b k *grid"],
    truth: Int[Tensor, "b *grid"],
    counts: Bool[Tensor, " b"],
    dice_weight: float,
) -> Float[Tensor, ""]:
    """Cross-entropy of each place, and the Dice loss beside it, meaned over the items that count."""
    logits = logits.float()
    each = cross_entropy(logits, truth, reduction="none").flatten(1).mean(1)
    if dice_weight:
        each = each + dice_weight * dice_loss(logits, truth)
    return (each * counts).sum() / counts.sum().clamp(min=1)


def dice_loss(
    logits: Float[Tensor, "b k *grid"], truth: Int[Tensor, "b *grid"]
) -> Float[Tensor, " b"]:
    """1 − the soft Dice of each item, meaned over the classes but the background (Milletari et al.,
    2016, with the sizes as they are, not squared). One place is added to both sides, for empty ones."""
    likely = logits.softmax(1).flatten(2)[:, 1:]
    true = one_hot(truth.flatten(1), logits.shape[1]).transpose(1, 2)[:, 1:].to(likely.dtype)
    common = (likely * true).sum(-1)
    found: Tensor = 1 - (2 * common + 1) / (likely.sum(-1) + true.sum(-1) + 1)
    return found.mean(1)
