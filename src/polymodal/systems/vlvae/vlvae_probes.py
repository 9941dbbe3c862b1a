"""The scores of 004's tables: correctness by a judge, bounds, diversity (§4)."""

from collections.abc import Mapping
from typing import Literal

import torch
from jaxtyping import Int
from torch import Tensor

from polymodal.data.image_texts import numbered, texts_of
from polymodal.data.records import Dataset
from polymodal.metrics.diversity import picture_distance, place_spread
from polymodal.metrics.estimates import mean
from polymodal.systems.vlvae.judge.judge_module import Judge
from polymodal.systems.vlvae.judge.place_judge import PlaceJudge
from polymodal.systems.vlvae.seeded import seeded
from polymodal.systems.vlvae.vlvae_module import VLVAE

VARIED, DRAWS = 100, 16
"""Number of texts, and of samples per text, for the diversity."""


@torch.no_grad()
def text_scores(
    system: VLVAE, splits: Mapping[str, Dataset], judge: Judge, *, by: Literal["aggregate", "true"]
) -> dict[str, float]:
    """A row of Table 1: images of a split's texts, with one of the text posteriors."""
    held_out = splits.get("test", splits["val"])
    system.eval()
    with seeded(0, system.device):
        texts = system.one_text(numbered(texts_of(held_out), system.words).to(system.device))
        pictures = system.imagined(system.latents(texts, by))
        varied = variety(system, judge, texts[:VARIED], by)
    scores = judge.correctness(pictures, texts)
    bounds = system.evaluate(held_out)
    bound_scores = under(by, bounds, "log_px_y")
    return {
        **scores,
        **varied,
        **bound_scores,
        "kl": bounds["kl"],
        **judge_accuracy(judge, held_out),
    }


@torch.no_grad()
def prior_scores(
    system: VLVAE,
    splits: Mapping[str, Dataset],
    judge: Judge,
    *,
    prior: Literal["aggregate", "normal"],
) -> dict[str, float]:
    """A row of Table 2: pairs sampled from one of the priors, as many as the split has images."""
    held_out = splits.get("test", splits["val"])
    system.eval()
    with seeded(0, system.device):
        z = system.prior_latents(len(held_out), prior)
        texts, _ = system.said(z, generator=torch.Generator(system.device).manual_seed(0))
        pictures = system.imagined(z)
    bounds = system.evaluate(held_out)
    scores = under(prior, bounds, "log_px", "log_py") | own_bound(prior, bounds)
    spread = mean(100 * picture_distance(pictures[None, :1000])).named("diversity")
    return {
        **judge.correctness(pictures, texts),
        **spread,
        **scores,
        **judge_accuracy(judge, held_out),
    }


def under(density: str, bounds: Mapping[str, float], *names: str) -> dict[str, float]:
    """The bounds under one of the densities, without its name."""
    ours = tuple(f"{name}_{density}" for name in names)
    return {k.replace(f"_{density}", ""): v for k, v in bounds.items() if k.startswith(ours)}


def own_bound(prior: str, bounds: Mapping[str, float]) -> dict[str, float]:
    """log p(y) with the posterior that was trained for a prior: q_true for N(0, I), q_agg for the
    aggregate."""
    scores = under({"normal": "true"}.get(prior, prior), bounds, "log_py")
    return {name.replace("log_py", "log_py_own"): value for name, value in scores.items()}


def variety(
    system: VLVAE, judge: Judge, texts: Int[Tensor, "n t"], by: Literal["aggregate", "true"]
) -> dict[str, float]:
    """Diversity of the images of one text, in percent of the maximum over pixels, and of its
    objects' positions, in percent of the side. It is reported next to correctness, since one
    fixed image per text could also be correct."""
    n = len(texts)
    repeated = texts.repeat_interleave(DRAWS, 0)
    pictures = system.imagined(system.latents(repeated, by))
    scores = mean(100 * picture_distance(pictures.unflatten(0, (n, DRAWS)))).named("diversity")
    if isinstance(judge, PlaceJudge) and judge.reader.objects:
        _, places = judge.read(pictures, repeated)
        scores |= mean(100 * place_spread(places.unflatten(0, (n, DRAWS)))).named("place_spread")
    return scores


def judge_accuracy(judge: Judge, held_out: Dataset) -> dict[str, float]:
    """The judge's accuracy on real images, which limits the reliability of its scores."""
    scores = judge.evaluate(held_out).items()
    return {f"judge_{name}": value for name, value in scores if "accuracy" in name}
