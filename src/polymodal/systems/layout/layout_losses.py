"""The losses of OC-GAN and of its scene-graph similarity module (003, §6.3.1, §6.3.4).

Means are over what all processes hold together, so that several learn as one does.
"""

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor
from torch.nn.functional import cross_entropy

from polymodal.nn.layout_discriminators import Verdict
from polymodal.training.distributed import gather, world


def mean_of_all(values: Shaped[Tensor, "*n"]) -> Float[Tensor, ""]:
    """This process's part of the mean over all processes' values, so that DDP's mean of the parts is it."""
    count = torch.full((1,), float(values.numel()), device=values.device)
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


def discriminators_loss(
    real: Verdict, drawn: Verdict, classes: Int[Tensor, " n"], lambda_o: float
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """L_D (003, eq. 6.3.10), and the mean hinge loss of the discriminators alone.

    The auxiliary classifier learns from real crops: from drawn ones it would learn that a class looks as
    the generator draws it (Odena et al. give it both).
    """
    hinges = [hinge_of_judge(a, b) for a, b in zip(real.patches, drawn.patches, strict=True)]
    loss = torch.stack(hinges).sum() if hinges else torch.zeros((), device=classes.device)
    if real.objects is not None and drawn.objects is not None and real.classes is not None:
        hinges.append(hinge_of_judge(real.objects, drawn.objects))
        loss = loss + lambda_o * (hinges[-1] + class_loss(real.classes, classes))
    return loss, torch.stack(hinges).mean().detach()


def adversarial_loss(
    drawn: Verdict, classes: Int[Tensor, " n"], lambda_ac: float
) -> Float[Tensor, ""]:
    """L_G^GAN + λ_AC L_G^AC: what the discriminators tell the generator (003, eq. 6.3.7, 6.3.9)."""
    loss = torch.zeros((), device=classes.device)
    for scores in drawn.patches:
        loss = loss + hinge_of_drawer(scores)
    if drawn.objects is not None and drawn.classes is not None:
        told = hinge_of_drawer(drawn.objects) + class_loss(drawn.classes, classes)
        loss = loss + lambda_ac * told
    return loss


def squared_gradient(
    scores: list[Float[Tensor, "b ..."]], seen: Float[Tensor, "b c h w"]
) -> Float[Tensor, ""]:
    """½ E‖∇D(x)‖² of each patch discriminator at real pictures, summed over them: R1 (Mescheder et al.,
    2018). A discriminator's score is its mean over patches."""
    parts = []
    for each in scores:
        total = each.float().flatten(1).mean(1).sum()
        (gradient,) = torch.autograd.grad(total, seen, create_graph=True)
        parts.append(gradient.float().square().flatten(1).sum(1).mean() / 2)
    return torch.stack(parts).sum()
