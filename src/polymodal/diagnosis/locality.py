"""Whether local features say which part is where: a linear probe for each part (003, §4.4.2, A.6).

A part is a square of 10 pixels about its place; a place of the feature grid has it if it sees any of
the square. The encoder stands still.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from polymodal.base.errors import PolymodalError
from polymodal.base.progress import watched
from polymodal.base.ranges import Positive, check_ranges
from polymodal.nn.scratch import Window

SQUARE = 10
"""The side of a part in pixels (003, A.6)."""

LOWEST, CUTS = -5.0, 26
"""The lowest logit at which a part may be named, and how many are tried from there to even odds: what is
best for F1 is never above these, if a probe's odds are right (Lipton et al., 2014)."""


@dataclass(frozen=True, kw_only=True)
class Probing:
    """How probes are fitted."""

    steps: Positive[int] = 1000
    """Steps of Adam."""
    lr: Positive[float] = 1e-2
    """Its rate, which falls to nothing along a line."""
    batch_size: Positive[int] = 64
    """Images a step."""

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True)
class Located:
    """Local features of images, and which parts each of their places has."""

    local: Float[Tensor, "n c h w"]
    maps: Bool[Tensor, "m p h w"]

    def __post_init__(self) -> None:
        if len(self.local) != len(self.maps) or not len(self.local):
            raise PolymodalError(
                "Every image needs its local features and its parts; found "
                f"{len(self.local)} of features and {len(self.maps)} of parts."
            )


def part_maps(
    parts: Float[Tensor, "n p 3"],
    window: Window,
    grid: int,
    size: int,
    crop: float = 1.0,
    square: float = SQUARE,
) -> Bool[Tensor, "n p grid grid"]:
    """Which places of a feature grid see which parts of a picture, or of its middle window.

    Args:
        parts: x and y in sides of the whole picture, and 1 where the part can be seen.
        window: what a place sees, in pixels of what is encoded.
        grid: places of a side.
        size: pixels of a side of what is encoded.
        crop: the side of that window, as a share of the picture's.
        square: the side of a part, in pixels of what is encoded.
    """
    middle = (parts[..., :2] / crop - 0.5 * (1 / crop - 1)) * size
    first = window.start + window.step * torch.arange(grid, device=parts.device)
    low, high = middle[..., None] - square / 2, middle[..., None] + square / 2
    # a part that was cut off with the rim of the picture is seen nowhere
    inside = (high > 0) & (low < size)
    sees = inside & (low < first + window.size) & (high > first)  # n p 2 grid
    across, down = sees.unbind(2)
    seen = parts[..., 2, None, None] > 0.5
    return seen & down[..., :, None] & across[..., None, :]


def fit_probes(data: Located, how: Probing, seed: int = 0) -> nn.Conv2d:
    """A linear probe for each part, alike at all places, of features at mean 0 and deviation 1."""
    generator = torch.Generator().manual_seed(seed)
    local = data.local
    mean, std = moments(local)
    probe = nn.Conv2d(local.shape[1], data.maps.shape[1], 1).to(local.device)
    nn.init.zeros_(probe.weight)
    nn.init.zeros_(probe.bias)  # type: ignore[arg-type]
    adam = torch.optim.Adam(probe.parameters(), how.lr)
    rate = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.0, how.steps)
    for _ in watched(range(how.steps), "fitting probes"):
        some = torch.randint(len(local), (how.batch_size,), generator=generator).to(local.device)
        logits = probe((local[some].float() - mean[:, None, None]) / std[:, None, None])
        loss = binary_cross_entropy_with_logits(logits, data.maps[some].float())
        adam.zero_grad()
        loss.backward()
        adam.step()
        rate.step()
    with torch.no_grad():  # so that it takes features as they are
        probe.weight.div_(std[:, None, None])
        probe.bias.sub_(probe.weight.flatten(1) @ mean)  # type: ignore[union-attr]
    return probe.requires_grad_(False)


def moments(
    local: Float[Tensor, "n c h w"], block: int = 256
) -> tuple[Float[Tensor, " c"], Float[Tensor, " c"]]:
    """The mean and deviation of each feature over images and places, without a copy of them all."""
    blocks = local.split(block)
    mean = torch.stack([some.double().sum((0, 2, 3)) for some in blocks]).sum(0)
    count = local.numel() / local.shape[1]
    mean = mean / count
    about = [(some.double() - mean[:, None, None]).square().sum((0, 2, 3)) for some in blocks]
    std = (torch.stack(about).sum(0) / count).sqrt().clamp_min(1e-6)
    return mean.float(), std.float()


def parts_f1(train: Located, test: Located, how: Probing | None = None) -> dict[str, float]:
    """The F1 of each part over all places of held-out images, between 0 and 1, and their mean.

    A place is named where a probe finds the part likelier than not: the thesis tells of no other threshold
    (A.6). Parts are rare, and a probe may hardly ever be so sure: `parts_f1_tuned` is the mean at the
    threshold of each part that is best for the images that its probe was fitted to. A part that no place
    of the held-out ones has is left out of both, and counted.
    """
    probe = fit_probes(train, how or Probing())
    known = test.maps.any(0).flatten(1).any(1).cpu()
    if not known.any():
        raise PolymodalError("No part is seen in any held-out image. Give images with parts.")
    parts = len(known)
    cuts = torch.linspace(LOWEST, 0, CUTS, device=train.local.device)[:, None].expand(-1, parts)
    best = f1_above(cuts, probe, train).argmax(0).to(cuts.device)
    even, tuned = f1_above(torch.stack([cuts[-1], cuts[:, 0][best]]), probe, test)
    scores = {f"f1_{part}": even[part].item() for part in known.nonzero().flatten().tolist()}
    return {
        "parts_f1": even[known].mean().item(),
        "parts_f1_tuned": tuned[known].mean().item(),
        "parts_unseen": float((~known).sum()),
        **scores,
    }


def f1_above(
    cuts: Float[Tensor, "k p"], probe: nn.Module, data: Located, block: int = 256
) -> Float[Tensor, "k p"]:
    """The F1 of each part over all places, those named whose logits are above each of some cuts."""
    counts = torch.zeros(3, *cuts.shape, dtype=torch.double)
    for local, maps in zip(data.local.split(block), data.maps.split(block), strict=True):
        logits = probe(local.float())
        for k, cut in enumerate(cuts):
            predicted = logits > cut[:, None, None]
            for row, both in enumerate((predicted & maps, predicted, maps)):
                counts[row, k] += both.sum((0, 2, 3)).cpu()
    hits, named, there = counts
    return 2 * hits / (named + there).clamp_min(1)
