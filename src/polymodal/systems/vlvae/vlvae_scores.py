"""Bounds on the likelihoods of images and texts, under N(0, I) and the learned densities of z."""

from collections.abc import Iterable

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from polymodal.data.image_texts import ImageTextBatch
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.metrics.aggregate import decompose
from polymodal.metrics.bounds import importance_bound, lower_bound
from polymodal.systems.vlvae.densities import log_prior, text_bound, text_bounds
from polymodal.systems.vlvae.generation import Generation
from polymodal.systems.vlvae.seeded import seeded

Terms = dict[str, Float[Tensor, " b"]]


@torch.no_grad()
def scores_of(
    system: Generation, batches: Iterable[ImageTextBatch], samples: int
) -> dict[str, float]:
    """Every bound, in nats per item, with its standard error and, for several samples, its spread.

    Texts and samples of z are the same whenever the same data are scored.
    """
    with seeded(0, system.device):
        pairs = ((batch.images, system.one_text(batch.texts)) for batch in batches)
        drawn = [[terms(system, *pair) for _ in range(samples)] for pair in pairs]
    scores = {
        name: torch.cat([torch.stack([one[name] for one in batch]) for batch in drawn], 1)
        for name in drawn[0][0]
    }
    return summarised(scores)


@torch.no_grad()
def kl_parts(system: Generation, batches: Iterable[ImageTextBatch]) -> dict[str, float]:
    """The two parts of the KL term: the information of z about the image, and the divergence of the
    aggregate posterior from the prior (004, eq. 17)."""
    with seeded(0, system.device):
        posteriors = DiagonalGaussian.join(
            [system.model.posterior(b.images, system.one_text(b.texts)) for b in batches]
        )
        parts = decompose(posteriors, posteriors.sample(1))
    scores = parts.posterior_to_aggregate.named("posterior_to_aggregate")
    return scores | parts.aggregate_to_prior.named("aggregate_to_prior")


def summarised(terms: dict[str, Float[Tensor, "s b"]]) -> dict[str, float]:
    """The means of single terms, and both bounds on every log-likelihood."""
    scores: dict[str, float] = {}
    for name, values in terms.items():
        if not name.startswith("log_p"):
            scores[name] = values.double().mean().item()
            continue
        scores |= lower_bound(values).named(name)
        if len(values) > 1:
            scores |= importance_bound(values).named(f"{name}_iw")
    return scores


def terms(system: Generation, images: UInt8[Tensor, "b 3 h w"], texts: Int[Tensor, "b t"]) -> Terms:
    """For one sample of z per pair, all terms whose means are the scores.

    log p(x, y) by eq. 1, log p(x|y) by eq. 6, log p(x) and log p(y) by §4.2. `_normal` is the
    model's own prior N(0, I), `_aggregate` the learned one. Both priors use the same posteriors,
    q(z|x) and q_agg(z|y). `log_py_true` is the bound that q_true was trained for, log p(y) under
    N(0, I) (eq. 3).
    """
    model, densities = system.model, system.densities
    posterior = model.posterior(images, texts)
    z = posterior.sample()
    code, log_q = model.code(z), posterior.log_prob(z)
    pictures, said = model.log_px(code, images), model.log_py(code, texts)
    without_prior = pictures - log_q
    config = system.config
    kl = log_q - log_prior(z)
    by_name: Terms = {
        "bound": config.image_weight * pictures + config.text_weight * said - kl,
        "reconstruction": pictures,
        "said": said,
        "kl": kl,
        "log_px_normal": without_prior + log_prior(z),
        "log_pxy_normal": without_prior + said + log_prior(z),
    }
    if densities.prior is not None:
        by_name["log_px_aggregate"] = without_prior + log_prior(z, densities.prior)
    if densities.true is not None:
        by_name["log_px_y_true"] = without_prior + densities.true(texts, z)
        by_name["log_py_true"] = text_bound(model, densities.true, texts)
    if densities.aggregate is not None:
        by_name["log_q"] = densities.aggregate(texts, z)
        by_name["log_px_y_aggregate"] = without_prior + by_name["log_q"]
        if densities.prior is not None:
            by_name["log_py_normal"], by_name["log_py_aggregate"] = text_bounds(
                model, densities.aggregate, texts, [None, densities.prior]
            )
    return by_name
