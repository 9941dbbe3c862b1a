"""The bounds between modalities on held-out items, and whether they still have something to teach."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from polymodal.data.batches import ColumnExamples
from polymodal.systems.medical.information_settings import InformationSettings
from polymodal.training.system import Scores

BLOCKS = 4
"""Batches of held-out items on which the bounds are measured."""

NEAR = 0.9
"""A bound above this share of its ceiling is saturated."""

KINDS = {"bound_ll": "local–local", "bound_lg": "local–global", "bound_gg": "global–global"}
"""Each bound by the name of its score."""

Bounds = Sequence[Mapping[str, Float[Tensor, ""]]]
"""Each kind's bound in each layer, in nats."""


@torch.no_grad()
def held_out_bounds(
    bounds: Callable[[Any], Bounds], examples: ColumnExamples, block: int, device: torch.device
) -> Scores:
    """The mean of each kind's bound on some items of a split, always the same ones, as `bound_ll`.

    Args:
        bounds: those of a batch.
        examples: of the split.
        block: items of a batch, two at least: an item alone has no negatives.
        device: where the network is.
    """
    rows = np.random.default_rng(0).permutation(len(examples))[: BLOCKS * block]
    parts = min(-(-len(rows) // block), len(rows) // 2)
    found: dict[str, list[float]] = {}
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(0)
        for own_rows in np.array_split(rows, parts) if parts else ():
            for own in bounds(examples.batch(own_rows).to(device)):
                for kind, bound in own.items():
                    found.setdefault(f"bound_{kind}", []).append(bound.item())
    return {kind: float(np.mean(own)) for kind, own in found.items()}


def ceiling(config: InformationSettings, name: str) -> float:
    """What a bound cannot exceed, in nats; that of Donsker and Varadhan has no limit.

    >>> round(ceiling(InformationSettings(), "bound_ll"), 2)
    1.39
    """
    if config.bound == "jensen-shannon":
        return math.log(4)
    if config.bound == "infonce":
        elsewhere = config.elsewhere if name == "bound_ll" else 0  # a global feature has one place
        return math.log(1 + config.others + elsewhere)
    return math.inf


def saturated(config: InformationSettings, scores: Scores, advice: str) -> list[str]:
    """A warning about each bound that is near its ceiling on held-out items.

    Args:
        config: how bounds are estimated.
        scores: of a split.
        advice: what to try.
    """
    return [
        f"The {kind} bound is saturated: {scores[name]:.2f} of at most {ceiling(config, name):.2f} nats "
        f"on held-out items. It tells true pairs from others without effort and teaches next to "
        f"nothing more. {advice}"
        for name, kind in KINDS.items()
        if scores.get(name, 0.0) > NEAR * ceiling(config, name)
    ]
