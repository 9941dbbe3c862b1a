"""What global and local features have to do with each other: pointwise mutual information (003, §4.4.3).

A statistics network T tells pairs of one image from pairs of two. Where the bound of Donsker and Varadhan
is largest (MINE; Belghazi et al., 2018), T is log p(g, l) / p(g) p(l) but for a constant. So T of the
global feature of one image and each local one of another shows where the second has what the first says.
"""

import copy
import math
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from polymodal.base.progress import watched
from polymodal.base.ranges import Positive, TwoOrMore, check_ranges
from polymodal.diagnosis.encoders import ImageFeatures
from polymodal.diagnosis.locality import moments
from polymodal.maths.information import donsker_varadhan, soft_clip
from polymodal.nn import critics

CHECKS, MOST = 20, 256
"""How often a fit is looked at, and by about how many images at most."""


@dataclass(frozen=True, kw_only=True)
class Mining:
    """How T is fitted; the thesis does not say."""

    critic: Literal["encode-and-dot", "concat-and-convolve"] = "encode-and-dot"
    """The network that compares a global feature and a local one."""
    hidden: Positive[int] = 256
    """The width of its layers."""
    steps: Positive[int] = 1000
    """Steps of Adam."""
    lr: Positive[float] = 1e-3
    """Its rate, which falls to nothing along a line."""
    batch_size: TwoOrMore[int] = 64
    """Images a step, each of which is paired with itself and with all others."""
    places: Positive[int] = 16
    """Places of each image that are taken in a step, at random."""
    clip: Positive[float] = 5.0
    """T stays within ± so many nats, along a tanh."""

    def __post_init__(self) -> None:
        check_ranges(self)


class Statistics(nn.Module):
    """T of global and local features, each brought to mean 0 and deviation 1 first."""

    def __init__(self, seen: ImageFeatures, how: Mining) -> None:
        super().__init__()
        whole, local = seen.whole, seen.local
        self.scales = moments(whole[..., None, None]), moments(local)
        self.scale, self.clip = how.hidden**0.5, how.clip
        make = critics.critic_named(how.critic)
        self.critic = make(summary=whole.shape[1], local=local.shape[1], hidden=how.hidden)
        self.to(whole.device)

    def forward(
        self, whole: Float[Tensor, "m d"], local: Float[Tensor, "n c *grid"]
    ) -> Float[Tensor, "m n places"]:
        (middle, spread), (mean, std) = self.scales
        flat = local.flatten(2).float()
        scores = self.critic((whole - middle) / spread, (flat - mean[:, None]) / std[:, None])
        return soft_clip(scores / self.scale, self.clip)


def fit_statistics(seen: ImageFeatures, how: Mining, seed: int = 0) -> Statistics:
    """T fitted to images: pairs of one image are drawn from the joint, of two from the product.

    T soon knows images by heart; it is taken from where the bound is largest on some that are held out.
    """
    whole, local = seen.whole.float(), seen.local.flatten(2)
    fitted, apart = divided(len(whole))
    held = ImageFeatures(whole[apart], seen.local[apart])
    with torch.random.fork_rng([whole.device] if whole.is_cuda else []):
        torch.manual_seed(seed)
        statistics = Statistics(seen, how)
        adam = torch.optim.Adam(statistics.parameters(), how.lr)
        rate = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.0, how.steps)
        best, kept = -math.inf, statistics.state_dict()
        for step in watched(range(1, how.steps + 1), "fitting heatmaps"):
            some = fitted[torch.randperm(len(fitted))[: how.batch_size]].to(whole.device)
            places = torch.randint(local.shape[2], (how.places,)).to(whole.device)
            loss = -donsker_varadhan(statistics.train()(whole[some], local[some][:, :, places]))
            adam.zero_grad()
            loss.backward()
            adam.step()
            rate.step()
            if step % max(1, how.steps // CHECKS) == 0:
                now = information(statistics, held)
                if now > best:
                    best, kept = now, copy.deepcopy(statistics.state_dict())
    statistics.load_state_dict(kept)
    return statistics.requires_grad_(False).eval()


def divided(images: int) -> tuple[Int[Tensor, " n"], Int[Tensor, " m"]]:
    """Images to fit to, and a tenth or fewer to see when that is enough; of fewer than twenty, all for both.

    >>> divided(23)[1]
    tensor([ 0, 10, 20])
    """
    places = torch.arange(images)
    apart = places % max(10, images // MOST) == 0
    return (places, places) if images < 20 else (places[~apart], places[apart])


@torch.no_grad()
def information(statistics: Statistics, asked: ImageFeatures, block: int = 64) -> float:
    """The bound on I(G; L) in nats over images that T was not fitted to, in the mean over blocks."""
    statistics.eval()
    # in any order: datasets come class by class, and images of one class are no fair product
    order = torch.randperm(len(asked.whole), generator=torch.Generator().manual_seed(0))
    blocks = [some for some in order.to(asked.whole.device).split(block) if len(some) > 1]
    scores = (statistics(asked.whole[some].float(), asked.local[some]) for some in blocks)
    return torch.stack([donsker_varadhan(pairs) for pairs in scores]).mean().item()


def score_maps(
    statistics: Statistics, asked: ImageFeatures, pairs: Int[Tensor, "k 2"]
) -> Float[Tensor, "k side side"]:
    """T of the global feature of each pair's first image and every local one of its second."""
    side = asked.local.shape[-1]
    maps = asked.whole.new_empty(len(pairs), side * side)
    pairs = pairs.to(maps.device)
    for target in pairs[:, 1].unique().tolist():  # whose local features are looked at once
        rows = pairs[:, 1] == target
        sources = asked.whole[pairs[rows, 0]].float()
        maps[rows] = statistics(sources, asked.local[target : target + 1]).squeeze(1)
    return maps.unflatten(1, (side, side))


def normalised(
    scores: Float[Tensor, "k side side"], how: Literal["softmax", "range"]
) -> Float[Tensor, "k side side"]:
    """Scores relative to those of the image's other places.

    T is log p(l | g) / p(l): its exponentials, made to sum to 1, say which place has most of what g says.
    By range, the least is 0 and the largest 1.

    >>> normalised(torch.tensor([[[0.0, 1.0], [1.0, 3.0]]]), "range").flatten()
    tensor([0.0000, 0.3333, 0.3333, 1.0000])
    """
    flat = scores.flatten(1)
    if how == "softmax":
        return flat.softmax(1).view_as(scores)
    low, high = flat.amin(1, keepdim=True), flat.amax(1, keepdim=True)
    return ((flat - low) / (high - low).clamp_min(1e-12)).view_as(scores)
