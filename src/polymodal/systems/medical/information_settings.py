"""Settings of the bounds between modalities (003, §8.3.2)."""

from dataclasses import dataclass
from typing import Literal

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import OneOrMore, Positive, Steps, Weight, ZeroOrMore

MOST_HIDDEN = 512
"""Width of a critic unless another is asked for, at most: that of Deep InfoMax (Hjelm et al., 2019)."""


@dataclass(frozen=True, kw_only=True)
class InformationSettings:
    """Which bounds are raised, and how they are estimated."""

    lambda_ll: Weight[float] = 0.1
    """Weight of the local–local bounds (eq. 8.3.2)."""
    lambda_lg: Weight[float] = 0.0
    """Weight of the local–global bounds (eq. 8.3.3)."""
    lambda_gg: Weight[float] = 0.0
    """Weight of the global–global bounds (eq. 8.3.4)."""
    lambda_warmup: Steps[int] = 0
    """Steps over which these weights rise from 0."""
    pairs: Literal["modalities", "joint", "both"] = "modalities"
    """Local–local pairs: different modalities, each modality with the map of all, or both."""
    teachers: tuple[str, ...] = ()
    """Modalities that teach: no gradient of a bound reaches them; joint is the map of all."""
    bound: Literal["jensen-shannon", "infonce", "donsker-varadhan"] = "jensen-shannon"
    """Estimator of mutual information (eq. 8.3.1)."""
    critic_hidden: Positive[int | None] = None
    """Width of the critics, concat-and-convolve with three layers; by default twice the wider of the
    features that they compare, at most 512, which is the width in Deep InfoMax."""
    others: OneOrMore[int] = 4
    """Negatives a place: the same place of so many other images of the batch."""
    elsewhere: ZeroOrMore[int] = 0
    """Negatives a place: so many other places of the same image."""
    most_places: OneOrMore[int] = 1024
    """Places of a map that are compared in a step, drawn anew for each; more are never."""

    @property
    def informed(self) -> bool:
        """Whether any bound is raised."""
        return bool(self.lambda_ll or self.lambda_lg or self.lambda_gg)

    def critic_width(self, left: int, right: int) -> int:
        """How wide a critic of features of these widths is: nearly all that a bound costs is the square
        of it, so that beside a narrow network a critic of 512 would cost more than the network."""
        return self.critic_hidden or min(MOST_HIDDEN, 2 * max(left, right))

    def check_teachers(self, names: list[str]) -> None:
        """Refuse teachers that are no modality, or that leave nobody to learn."""
        known = [*names, "joint"]
        for name in self.teachers:
            if name not in known:
                raise PolymodalError(
                    f"--teachers names {name!r}, but the modalities are {', '.join(known)}."
                )
        if self.informed and set(names) <= set(self.teachers):
            raise PolymodalError(
                "--teachers names every modality, so that none would learn from another. Leave out "
                "those that are to learn."
            )
