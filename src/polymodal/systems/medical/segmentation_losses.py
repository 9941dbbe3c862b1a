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
    """Cross-entropy of each place, the mean over the items that count, and the Dice loss of these."""
    logits = logits.float()
    each = cross_entropy(logits, truth, reduction="none").flatten(1).mean(1)
    loss = (each * counts).sum() / counts.sum().clamp(min=1)
    return loss + dice_weight * dice_loss(logits, truth, counts) if dice_weight else loss


def dice_loss(
    logits: Float[Tensor, "b k *grid"], truth: Int[Tensor, "b *grid"], counts: Bool[Tensor, " b"]
) -> Float[Tensor, ""]:
    """1 − the soft Dice of the items that count, all together, meaned over the classes but the
    background (Milletari et al., 2016, with sizes as they are, not squared).

    All together, because of a slice without a class the smallest probability of it costs the whole of
    its Dice: networks that were trained slice by slice began by finding nothing, and stayed there.
    """
    likely = (logits.softmax(1).flatten(2) * counts[:, None, None])[:, 1:]
    true = one_hot(truth.flatten(1), logits.shape[1]).transpose(1, 2)[:, 1:]
    true = true * counts[:, None, None]
    common, sizes = (likely * true).sum((0, 2)), (likely + true).sum((0, 2))
    found: Tensor = 1 - (2 * common + 1) / (sizes + 1)
    return found.mean() * counts.any()
