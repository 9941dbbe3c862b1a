"""Decoded images with the distribution of every word of their texts (004, Fig. 3 and 7)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.records import Dataset
from polymodal.metrics.correctness import correctness
from polymodal.metrics.estimates import Estimate, mean
from polymodal.studies.figures.examples import SHOWN, Block, draw
from polymodal.studies.figures.figure_texts import relation_place, spelled
from polymodal.studies.figures.inference import SEED, Decoded, decoded, inferred
from polymodal.systems.vlvae.judge.judge_module import Judge
from polymodal.systems.vlvae.judge.place_judge import PlaceJudge
from polymodal.systems.vlvae.seeded import seeded
from polymodal.systems.vlvae.vlvae_module import VLVAE

MEASURED = 500
"""Images of a split, and samples of a prior, that a judge reads for the numbers of figure 3."""

SPLITS = {"train": "Training set", "val": "Validation set"}


def figure3(
    system: VLVAE, judge: Judge, splits: Mapping[str, Dataset], out: Path
) -> dict[str, float]:
    """Reconstructions of training and validation images, and samples of the priors (004, Fig. 3).

    Words are sampled, and stand above their distributions; under them are the words that the judge reads,
    given the sampled relation. The numbers are the percentage of the sampled words that the judge reads
    too, and the judge's accuracy on real images.
    """
    reader = fitting(judge, system)
    trust = reader.validate(splits["val"])["least_accuracy"]
    blocks, scores = [], {"judge_least_accuracy": trust}
    for name, title in (SPLITS | priors(system)).items():
        inputs = None
        if name in SPLITS:
            inputs = inferred(system, splits[name], shown=SHOWN, most=MEASURED)
        images = decoded(system, inputs.z if inputs else prior_latents(system, name))
        read, agreeing = judged(reader, images)
        scores |= agreeing.named(f"{name}_correctness")
        note = (
            f"the judge agrees with {agreeing.value:.0f} % of the words drawn; in real images it reads "
            f"{trust:.1f} % of each attribute, or more"
        )
        blocks.append(Block(title=title, note=note, inputs=inputs, decoded=images, read=read))
    draw(blocks, system.words, out)
    return scores


def fitting(judge: Judge, system: VLVAE) -> PlaceJudge:
    """The judge, refused where it cannot read what the system says."""
    if not isinstance(judge, PlaceJudge):
        raise PolymodalError(
            "Figure 3 needs a judge that reads a word at each place; this one reads a bag of words. "
            "Train one with --words places."
        )
    if judge.words != system.words:
        raise PolymodalError(
            "The judge reads other words than the model says. Train both on the same data."
        )
    return judge


def judged(judge: PlaceJudge, images: Decoded) -> tuple[Int[Tensor, "b t"], Estimate]:
    """The words that a judge reads in decoded images, and the percentage of theirs that it reads too."""
    read, _ = judge.read(images.images, images.texts)
    scores = correctness(images.texts.to(read.device), read, judge.attributes)
    return read, Estimate(value=scores["correctness"], error=scores.get("correctness_error"))


def priors(system: VLVAE) -> dict[str, str]:
    """The priors of z that a system has, and what they are called."""
    learned = {} if system.densities.prior is None else {"aggregate_prior": "learned prior q(z)"}
    names = {"prior": "prior p(z) = N(0, I)"} | learned
    return {name: f"Samples from the {title}" for name, title in names.items()}


@torch.no_grad()
def prior_latents(system: VLVAE, name: str) -> Float[Tensor, "b z"]:
    """Draws of z from one of them."""
    with seeded(SEED, system.device):
        return system.prior_latents(MEASURED, "normal" if name == "prior" else "aggregate")


def figure7(joint: VLVAE, marginal: VLVAE, dataset: Dataset, out: Path) -> dict[str, float]:
    """Reconstructions by joint and by marginal inference, with entropies of words (004, Fig. 7; V5).

    The numbers are in nats, given z and the words drawn before: see `entropies`.
    """
    check_inference(joint, "both")
    check_inference(marginal, "image")
    blocks: list[Block] = []
    scores: dict[str, float] = {}
    for name, system, title in (
        ("joint", joint, "Joint inference q(z|x, y)"),
        ("marginal", marginal, "Marginal inference q(z|x)"),
    ):
        inputs = inferred(system, dataset, shown=SHOWN)
        _, probabilities = system.said(inputs.z, torch.Generator(system.device).manual_seed(SEED))
        each = entropies(probabilities, common_relation(spelled(system.words, inputs.texts)))
        means = {key: mean(values) for key, values in each.items()}
        for key, value in means.items():
            scores |= value.named(f"{name}_{key}")
        note = ", ".join(f"{key.replace('_', ' ')} {m.value:.2f}" for key, m in means.items())
        if not blocks:
            blocks.append(Block(title="Images and one of their texts", inputs=inputs))
        shown = decoded(system, inputs.z[:SHOWN])
        blocks.append(Block(title=title, note=f"entropy in nats: {note}", decoded=shown))
    draw(blocks, marginal.words, out)
    return scores


def check_inference(system: VLVAE, source: Literal["both", "image"]) -> None:
    """Refuse a model that infers from something else."""
    if system.config.infer_from != source:
        raise PolymodalError(
            "Figure 7 takes a model that infers from both, then one that infers from the image; found "
            f"one that infers from {system.config.infer_from}. Train it with --infer-from {source}."
        )


def entropies(
    probabilities: Float[Tensor, "b t v"], relation: int
) -> dict[str, Float[Tensor, " b"]]:
    """The entropy of words in nats, given those drawn before them (004, §6).

    `first_word` is that of the first one, which tells the order of the objects only where their sizes
    differ. `first_object` sums over all words before the relation: in the mean that is the entropy of
    which object is named first, and how. `relation_word` is that of the relation.
    """
    each = torch.special.entr(probabilities.double()).sum(-1)
    return {
        "first_word": each[:, 0],
        "first_object": each[:, :relation].sum(1),
        "relation_word": each[:, relation],
    }


def common_relation(texts: Sequence[Sequence[str]]) -> int:
    """The place where all texts have a relation word."""
    places = {relation_place(text) for text in texts}
    (place,) = places if len(places) == 1 else {None}
    if not place:
        raise PolymodalError(
            "Figure 7 needs texts that name an object and then a relation, at the same place in each, "
            f"as two-objects has; the split has {' '.join(texts[0])!r}."
        )
    return place
