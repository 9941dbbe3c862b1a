"""Deep InfoMax and its relatives: mutual information of global and local features (Hjelm et al.,
2019; 003, A.7)."""

from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from polymodal.base.ranges import OneOrMore, ZeroOrMore
from polymodal.maths import information
from polymodal.maths.information import score_penalty, soft_clip
from polymodal.nn import critics
from polymodal.nn.scratch import Features
from polymodal.systems.zeroshot.learner import Learner
from polymodal.systems.zeroshot.learner_settings import Settings

BoundName = Literal["jensen-shannon", "infonce", "donsker-varadhan"]


@dataclass(frozen=True, kw_only=True)
class InfoMaxSettings(Settings):
    """A bound on the mutual information, and its critic."""

    bound: BoundName = "jensen-shannon"
    """Bound on the mutual information to maximise. The thesis names donsker-varadhan (A.7); DIM's
    own code uses jensen-shannon."""
    critic: Literal[
        "encode-and-dot", "encode-and-cosine", "normed-dot", "dot", "concat-and-convolve"
    ] = "encode-and-dot"
    """Critic that scores a global feature against a local one."""
    critic_hidden: OneOrMore[int] = 1024
    """Width of the critic's layers, if it has any."""
    critic_dim: OneOrMore[int] = 512
    """Dimension in which normed-dot compares the two features."""
    critic_scaled: bool = True
    """Divide the scores of encode-and-dot by the square root of its width, as AMDIM does. DIM and
    the thesis do not, but learning is then slow (docs/zeroshot.md)."""
    scales: Literal["local", "local-and-last"] = "local"
    """Local features that the global one is matched with: the local maps (003, A.7), or the last
    maps too, as in AMDIM."""
    limit: ZeroOrMore[float] = 0.0
    """Soft clipping of the scores to ± this value, as in AMDIM; 0 for none."""
    penalty: ZeroOrMore[float] = 0.0
    """Weight of the mean squared score before clipping, as in AMDIM."""


class InfoMax(Learner):
    """A learner with one critic per scale."""

    config: InfoMaxSettings

    def __init__(self, config: InfoMaxSettings, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        self.bound = information.bound_named(config.bound)
        self.critic = critic(config, self.encoder.local_dim)
        # not `dot`: local and last maps differ in width
        both = config.scales == "local-and-last"
        self.far_critic = critic(config, self.encoder.last_dim) if both else None

    def information(
        self, whole: Features, places: Features, negatives: Bool[Tensor, "b b"] | None = None
    ) -> Float[Tensor, ""]:
        """The bound on the mutual information of the global features of images and the local
        features of their positives, in nats: the mean over scales."""
        scores = [self.critic(whole.whole, places.local)]
        if self.far_critic is not None:
            scores.append(self.far_critic(whole.whole, places.last))
        return torch.stack([self.bound_of(each, negatives) for each in scores]).mean()

    def bound_of(
        self, scores: Float[Tensor, "b b *places"], negatives: Bool[Tensor, "b b"] | None = None
    ) -> Float[Tensor, ""]:
        """The bound from scores, with soft clipping and penalty if set."""
        limit, weight = self.config.limit, self.config.penalty
        bound = self.bound(soft_clip(scores, limit) if limit else scores, negatives=negatives)
        return bound - score_penalty(scores, weight) if weight else bound


def critic(config: InfoMaxSettings, local: int) -> nn.Module:
    """The critic for local features of a given width."""
    how: dict[str, Any] = {} if config.critic == "dot" else {"hidden": config.critic_hidden}
    if config.critic == "encode-and-dot":
        how["scaled"] = config.critic_scaled
    if config.critic == "normed-dot":
        how["dim"] = config.critic_dim
    return critics.critic_named(config.critic)(summary=config.dim, local=local, **how)
