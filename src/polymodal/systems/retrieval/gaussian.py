"""Gaussian retrieval: captions, images or both as Gaussians, with uncertainty (001, §2).

GCE has Gaussian captions and points for images (eq. 3–6), GIE the reverse (eq. 7–10), GCIE
Gaussians for both (eq. 11–17). The variance of a caption or an image is the uncertainty of the
model.

PCME++ (Chun, 2024) is GCIE with --similarity csd --loss sigmoid --scale 5 --bias 5 --learn-scale
--pseudo-positives 0.1 --vib 1e-4, and variances that start small: --low 1e-4 --log-var-start -7.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from torch import nn

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import Weight
from polymodal.maths.diagonal_gaussian import bounded, check_range
from polymodal.maths.similarity import measure
from polymodal.nn.towers import Gaussians, Points
from polymodal.systems.retrieval import Retrieval, Settings, caption_part, image_part, learn

__all__ = ["Config", "build", "learn"]

MEASURES = {
    "GCE": ("mahalanobis",),
    "GIE": ("mahalanobis",),
    "GCIE": ("kl", "min_kl", "wasserstein", "squared_wasserstein", "csd", "bhattacharyya"),
}
"""What each model can be compared by: a point against a Gaussian, or two Gaussians."""


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """A Gaussian model of images, captions or both."""

    model: Literal["GCE", "GIE", "GCIE"] = "GCIE"
    """Gaussian captions (GCE), Gaussian images (GIE) or both (GCIE)."""
    similarity: str = "wasserstein"
    """mahalanobis for GCE and GIE; kl, min_kl, wasserstein, squared_wasserstein, csd or
    bhattacharyya for GCIE."""
    covariance: Literal["ellipsoidal", "spherical"] = "ellipsoidal"
    """ellipsoidal: one variance per dimension; spherical: one per item, the mean of the
    log-variances."""
    unit: bool = True
    """Normalise the means to unit length; the paper does not say, and without it training is slow."""
    low: float = 0.1
    """Minimum variance."""
    high: float = 10.0
    """Maximum variance."""
    bound: Literal["clamp", "squash"] = "clamp"
    """Limit the variances by clamping (the paper) or smoothly (squash)."""
    log_var_start: float = -1.0
    """Initial log-variance."""
    log_var_scale: float = 0.1
    """Factor on the initial weights of the log-variances; small, so that they start nearly equal."""
    vib: Weight[float] = 0.0
    """Weight of the KL from N(0, I), per dimension and embedding (PCME++: 1e-4)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.similarity not in MEASURES[self.model]:
            raise PolymodalError(
                f"{self.model} cannot be compared by {self.similarity!r}, but by "
                f"{', '.join(MEASURES[self.model])}."
            )
        check_range(self.low, self.high)


def build(config: Config, learned: dict[str, Any]) -> Retrieval:
    """The model, given what `learn` found."""
    images: nn.Module = image_part(config, learned)
    captions: nn.Module = caption_part(config, learned)
    return Retrieval(
        config=config,
        learned=learned,
        images=Points(images, config.embed_dim, unit=config.unit)
        if config.model == "GCE"
        else gaussians(config, images),
        captions=Points(captions, config.embed_dim, unit=config.unit)
        if config.model == "GIE"
        else gaussians(config, captions, spread=second_part(config, learned)),
        measure=measure(config.similarity),
        bounds=(config.low, config.high),
        vib=config.vib,
    )


def second_part(config: Config, learned: dict[str, Any]) -> nn.Module | None:
    """The captions' second encoder (001, eq. 5); a frozen one gives one encoding for both."""
    return caption_part(config, learned) if config.text_encoder == "gru" else None


def gaussians(config: Config, encoder: nn.Module, spread: nn.Module | None = None) -> Gaussians:
    """The Gaussian tower of one side."""
    return Gaussians(
        encoder,
        config.embed_dim,
        spread=spread,
        unit=config.unit,
        allow=partial(
            bounded,
            low=config.low,
            high=config.high,
            bound=config.bound,
            alike=config.covariance == "spherical",
        ),
        start=config.log_var_start,
        scale=config.log_var_scale,
    )
