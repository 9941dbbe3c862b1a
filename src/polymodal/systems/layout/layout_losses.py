"""The losses of OC-GAN and of its scene-graph similarity module (003, §6.3.1, §6.3.4).

Means are over what all processes hold together, so that several learn as one does.
"""

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor
from torch.nn.functional import cross_entropy

from polymodal.training.distributed import gather, world


def mean_of_all(values: Shaped[Tensor, "*n"]) -> Float[Tensor, ""]:
    """This process's part of the mean over all processes' values, so that DDP's mean of the parts is it."""
    count = torch.tensor([values.numel()], dtype=torch.float32, device=values.device)
    return values.float().sum() / (gather(count).sum() / world()).clamp_min(1)


def hinge_of_judge(real: Float[Tensor, "*n"], drawn: Float[Tensor, "*k"]) -> Float[Tensor, ""]:
    """−E[min(0, −1 + D(x))] − E[min(0, −1 − D(G))] of one discriminator (003, eq. 6.3.8); 0 when it tells
    all apart, 2 when nothing."""
    return mean_of_all((1 - real.float()).relu()) + mean_of_all((1 + drawn.float()).relu())


def hinge_of_drawer(drawn: Float[Tensor, "*n"]) -> Float[Tensor, ""]:
    """−E[D(G)] of one discriminator (003, eq. 6.3.7)."""
    return -mean_of_all(drawn)


def class_loss(logits: Float[Tensor, "n k"], classes: Int[Tensor, " n"]) -> Float[Tensor, ""]:
    """The cross-entropy of the auxiliary classifier (003, §6.3.4)."""
    return mean_of_all(cross_entropy(logits.float(), classes, reduction="none"))


def perceptual_loss(
    real: list[Float[Tensor, "b ..."]], drawn: list[Float[Tensor, "b ..."]]
) -> Float[Tensor, ""]:
    """L_P: the mean absolute difference of each layer's features, summed over layers (003, §6.3.4)."""
    parts = [(a.float() - b.float()).abs().mean() for a, b in zip(real, drawn, strict=True)]
    return torch.stack(parts).sum()


def matching_loss(similarity: Float[Tensor, "b b"], gamma3: float) -> Float[Tensor, ""]:
    """−log P(S|I) − log P(I|S) of the pairs on the diagonal, with P ∝ exp(γ₃ Sim) over the batch
    (003, eq. 6.3.4, 6.3.5)."""
    own = torch.arange(len(similarity), device=similarity.device)
    logits = gamma3 * similarity.float()
    return cross_entropy(logits, own) + cross_entropy(logits.T, own)
