"""Contrastive losses as functions of a score matrix whose true pairs lie on the diagonal.

Scores are logits: a similarity times its scale, and for the sigmoid plus its bias. As in `ranking`, a
loss is a sum over the pairs of a batch, and two captions of one image, known by `owner`, are no
negatives of each other.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import logsigmoid

from polymodal.maths.ranking import negative_pairs


def symmetric_infonce(
    scores: Float[Tensor, "b b"], owner: Int[Tensor, " b"] | None = None
) -> Float[Tensor, ""]:
    """Sum over pairs of −½ log softmax of the true one among captions, and among images (CLIP).

    A caption of the same image is left out of the denominator. Where all scores are one, a pair
    costs log b.

    >>> symmetric_infonce(torch.zeros(2, 2))
    tensor(1.3863)
    """
    left_out = ~negative_pairs(len(scores), owner, scores.device)
    left_out.fill_diagonal_(False)
    logits = scores.masked_fill(left_out, -torch.inf)
    among = logits.logsumexp(1) + logits.logsumexp(0)
    return (0.5 * among - scores.diagonal()).sum()


def pairwise_sigmoid(
    scores: Float[Tensor, "b b"],
    owner: Int[Tensor, " b"] | None = None,
    pseudo_positives: float = 0.0,
) -> Float[Tensor, ""]:
    """Sum over all b² of −log σ(s) where image and caption belong together, else −log σ(−s) (SigLIP).

    A caption of the same image is a true one too. With `pseudo_positives` α, the loss is added α
    times more with each negative that scores at least as the true pair counted as true, the mean of
    negatives of the image and of the caption (PCME++, §2.3).

    >>> pairwise_sigmoid(torch.zeros(2, 2))
    tensor(2.7726)
    """
    true = ~negative_pairs(len(scores), owner, scores.device)
    loss = binary(scores, true)
    if pseudo_positives:
        by_image, by_caption = pseudo_pairs(scores, true)
        loss = loss + 0.5 * pseudo_positives * (
            binary(scores, by_image) + binary(scores, by_caption)
        )
    return loss


def binary(scores: Float[Tensor, "b b"], true: Bool[Tensor, "b b"]) -> Float[Tensor, ""]:
    """The sum of −log σ(s) over true pairs and of −log σ(−s) over the others."""
    return -logsigmoid(torch.where(true, scores, -scores)).sum()


def pseudo_pairs(
    scores: Float[Tensor, "b b"], true: Bool[Tensor, "b b"]
) -> tuple[Bool[Tensor, "b b"], Bool[Tensor, "b b"]]:
    """True pairs and those that score at least as them: as the image has it, and as the caption."""
    paired = scores.diagonal()
    return true | (scores >= paired[:, None]), true | (scores >= paired[None, :])
