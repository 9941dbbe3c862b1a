"""Where a text says that z is, and where its images have it, on a grid of two dimensions (004, §5.5)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.records import Dataset
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.metrics.aggregate import aggregate_log_prob, grid_kl, normalised
from polymodal.studies.figures.inference import batches
from polymodal.systems.vlvae.densities import log_prior
from polymodal.systems.vlvae.vlvae_module import VLVAE

FEWEST, MOST, BLOCK = 401, 1601, 2**14
"""Points of the grid along a side, more where posteriors are narrow; how many are decoded at once."""

REACH = 5.0
"""Deviations of the prior, and of each image's posterior, that the grid holds at least."""

TEXTS = 9
"""How many texts a split may have."""


@dataclass(frozen=True, kw_only=True)
class Mismatch:
    """What a text says of z and what its images say, as log-densities on one grid."""

    text: str
    posterior: Float[Tensor, "h w"]
    """p(z|y) ∝ p(y|z) p(z)."""
    aggregate: Float[Tensor, "h w"]
    """E_{p(x|y)}[q(z|x)] (004, eq. 4)."""

    @cached_property
    def kl(self) -> float:
        """KL(aggregate ‖ p(z|y)) in nats."""
        return grid_kl(self.aggregate, self.posterior)

    @cached_property
    def outside(self) -> float:
        """The percentage of p(z|y) that lies in holes: where 99 % of the aggregate does not."""
        hole = self.aggregate_held > 0.99
        return 100 * normalised(self.posterior).exp()[hole].sum().item()

    @cached_property
    def posterior_held(self) -> Float[Tensor, "h w"]:
        """See `held`."""
        return held(self.posterior)

    @cached_property
    def aggregate_held(self) -> Float[Tensor, "h w"]:
        """See `held`."""
        return held(self.aggregate)


@dataclass(frozen=True, kw_only=True)
class Mismatches:
    """All texts of a split on one grid."""

    axis: Float[Tensor, " h"]
    """The places of the grid along either side."""
    of: tuple[Mismatch, ...]

    @property
    def texts(self) -> list[str]:
        return [one.text for one in self.of]

    @property
    def numbers(self) -> dict[str, float]:
        """The divergence and the holes of each text, and their means."""
        scores: dict[str, float] = {}
        for name in ("kl", "outside"):
            values = {one.text: getattr(one, name) for one in self.of}
            scores[name] = sum(values.values()) / len(values)
            scores |= {f"{name}_{text.replace(' ', '_')}": value for text, value in values.items()}
        return scores


@torch.no_grad()
def mismatches(system: VLVAE, dataset: Dataset) -> Mismatches:
    """p(z|y) and the aggregate posterior for every text of a split, by the order of its words."""
    if system.config.latent != 2:
        raise PolymodalError(
            f"A latent space is drawn in 2 dimensions; this model has {system.config.latent}. "
            "Train one with --latent 2."
        )
    texts, posteriors = posteriors_of(system, dataset)
    different, owner = texts.unique(dim=0, return_inverse=True)
    if len(different) > TEXTS:
        raise PolymodalError(
            f"The split has {len(different)} different texts, too many to draw: {TEXTS} at most. "
            "Take one-object."
        )
    axis = axis_for(posteriors)
    across, up = torch.meshgrid(axis, axis, indexing="xy")
    z = torch.stack([across, up], -1).flatten(0, 1).to(system.device)
    of_texts = text_posteriors(system, different, z)
    aggregates = [aggregate_log_prob(posteriors[owner == k], z) for k in range(len(different))]
    check_mass(aggregates, axis, posteriors)
    square = (len(axis), len(axis))
    return Mismatches(
        axis=axis,
        of=tuple(
            Mismatch(
                text=text,
                posterior=of_texts[k].reshape(square).cpu(),
                aggregate=aggregates[k].reshape(square).cpu(),
            )
            for k, text in enumerate(system.words.decode(different))
        ),
    )


def posteriors_of(system: VLVAE, dataset: Dataset) -> tuple[Int[Tensor, "n t"], DiagonalGaussian]:
    """Every text of every image of a split, and q(z|·) given them."""
    texts, posteriors = [], []
    for batch in batches(system, dataset):
        for text in batch.texts.unbind(1):
            texts.append(text)
            posteriors.append(system.model.posterior(batch.images, text))
    return torch.cat(texts), DiagonalGaussian.join(posteriors)


def text_posteriors(
    system: VLVAE, texts: Int[Tensor, "k t"], z: Float[Tensor, "m 2"]
) -> Float[Tensor, "k m"]:
    """log p(y|z) + log p(z), which is log p(z|y) but for a constant (004, §5.5)."""
    log_probs = []
    for part in z.split(BLOCK):
        code = system.model.code(part.float())
        log_py = [system.model.log_py(code, text.expand(len(part), -1)) for text in texts]
        log_probs.append(torch.stack(log_py).double() + log_prior(part))
    return torch.cat(log_probs, 1)


def axis_for(posteriors: DiagonalGaussian) -> Float[Tensor, " h"]:
    """Points that reach beyond the prior and all posteriors, no further apart than these are narrow."""
    reach = max(REACH, (posteriors.mean.abs() + REACH * posteriors.std).max().item())
    needed = math.ceil(2 * reach / posteriors.std.min().item())
    cells = min(max(FEWEST, needed), MOST)
    return torch.linspace(-reach, reach, cells, dtype=torch.double)


def check_mass(
    log_densities: Sequence[Float[Tensor, " m"]],
    axis: Float[Tensor, " h"],
    posteriors: DiagonalGaussian,
) -> None:
    """Refuse densities that do not sum to 1, since posteriors fall between the points of the grid."""
    step = (axis[1] - axis[0]).item()
    for log_density in log_densities:
        mass = log_density.exp().sum().item() * step**2
        if not math.isclose(mass, 1, abs_tol=0.01):
            raise PolymodalError(
                f"Image posteriors of a deviation of {posteriors.std.min().item():.2g} are too narrow "
                f"for a grid of points {step:.2g} apart: their aggregate sums to {mass:.3f}. Train "
                "with a smaller --image-weight."
            )


def held(log_density: Float[Tensor, "h w"]) -> Float[Tensor, "h w"]:
    """The share of the mass in points as dense as each: below 0.9 lies the level set that holds 90 %."""
    shares = normalised(log_density).exp().flatten()
    order = shares.argsort(descending=True, stable=True)
    mass = torch.empty_like(shares)
    mass[order] = shares[order].cumsum(0)
    return mass.reshape(log_density.shape)
