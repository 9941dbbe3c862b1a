"""The loss of a retrieval system: which one, the scale of the similarity, and what a stuck one means."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from polymodal.maths.contrastive import pairwise_sigmoid, pseudo_pairs, symmetric_infonce
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.ranking import hinge, negative_pairs
from polymodal.maths.similarity import Embeddings
from polymodal.systems.retrieval.tower_settings import MOST, Settings


class PairLoss(nn.Module):
    """A loss of a batch's score matrix, whose scale and, for the sigmoid, bias may be learned.

    A scale is learned by its logarithm, which keeps it positive, and capped at 100 as CLIP does.
    """

    def __init__(self, config: Settings) -> None:
        super().__init__()
        self.config = config
        self.alike: float | Tensor = 2 * config.margin
        """What one pair of the last batch costs a model to which all pairs look alike."""
        if config.learn_scale:
            self.log_scale = nn.Parameter(torch.tensor(math.log(config.scale)))
        if config.loss == "sigmoid":
            self.bias = nn.Parameter(torch.tensor(float(config.bias)))

    def forward(
        self, scores: Float[Tensor, "b b"], owner: Int[Tensor, " b"], warm: bool = False
    ) -> Float[Tensor, ""]:
        """The loss, summed over pairs; `warm` sums the hinge over all negatives."""
        config, scores = self.config, self.scaled(scores)
        if config.loss == "hinge":
            return hinge(scores, config.margin, "sum" if warm else config.negatives, owner)
        self.alike = self.guessing(scores.detach(), owner)
        if config.loss == "infonce":
            return symmetric_infonce(scores, owner)
        return pairwise_sigmoid(scores + self.bias, owner, config.pseudo_positives)

    def guessing(self, scores: Float[Tensor, "b b"], owner: Int[Tensor, " b"]) -> Float[Tensor, ""]:
        """What a pair costs where scores tell nothing: the log of how many captions there are to
        choose from, or the entropy of which pairs count as true."""
        wrong = negative_pairs(len(owner), owner, owner.device)
        if self.config.loss == "infonce":
            return (wrong.sum(1) + 1).log().mean()
        weight = self.config.pseudo_positives
        by_image, by_caption = pseudo_pairs(scores, ~wrong)
        true = (~wrong).sum() + 0.5 * weight * (by_image.sum() + by_caption.sum())
        every = (1 + weight) * wrong.numel()
        false = every - true
        return (torch.xlogy(true, every / true) + torch.xlogy(false, every / false)) / len(owner)

    def scaled(self, scores: Float[Tensor, "b b"]) -> Float[Tensor, "b b"]:
        """Scores times their scale."""
        if not self.config.learn_scale:
            return scores if self.config.scale == 1 else self.config.scale * scores
        with torch.no_grad():
            self.log_scale.clamp_(max=math.log(MOST))
        return self.log_scale.exp() * scores

    def weight(self, b: int) -> float:
        """How many times a term of one item counts: once beside a sum over b pairs, b/2 times beside the
        sigmoid's over all b², of which PCME++ takes twice the mean."""
        return 0.5 * b if self.config.loss == "sigmoid" else 1.0

    def symptom(self, loss: float) -> str | None:
        """What a loss that stays at this value means, in plain words, or None if it is healthy."""
        stuck = float(self.alike)
        if abs(loss - stuck) >= 0.005 * stuck:
            return None
        if self.config.loss == "hinge":
            if self.config.negatives != "hardest":
                return None
            return (
                f"The loss sits at twice the margin ({stuck:g} per pair): all images and "
                "captions have the same embedding. Try --warmup 500 (summed negatives "
                "first), --negatives sum, a smaller --lr or a larger --batch-size."
            )
        return (
            f"The loss is at chance level ({stuck:.3g} per pair at this batch size): the model does "
            "not distinguish the pairs. Try a larger --scale (14 for cosines), --learn-scale or "
            "another --lr."
        )


def excess(side: Embeddings) -> Float[Tensor, ""]:
    """KL to N(0, I) a dimension, summed over a side's Gaussians (the VIB loss of PCME++); 0 for points."""
    if isinstance(side, Tensor):
        return side.new_zeros(())
    standard = DiagonalGaussian(torch.zeros_like(side.mean), torch.zeros_like(side.log_var))
    return side.kl(standard).sum() / side.shape[-1]
