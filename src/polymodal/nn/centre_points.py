"""Objects as points: where centres are, how large each object is and what (Zhou et al., 2019, CenterNet).

CenterNet has a map of centres for every class. Here one map says where centres are, and the class is told
at each place: most of 48 maps would be background nearly everywhere.
"""

import itertools
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import interpolate, max_pool2d

from polymodal.nn.image_encoders import Residual

RARE = -2.2
"""The first logit of a centre: a tenth, as if a place in ten had one, so that the loss begins low."""

WIDEST = 4.0
"""The largest logarithm of a box's side in places that is read, 55 places."""


@dataclass(frozen=True)
class PointMaps:
    """What a network says of each place of a picture."""

    heat: Float[Tensor, "b i j"]
    """The logit that an object's centre is there."""
    offset: Float[Tensor, "b 2 i j"]
    """Where in the place the centre is, from its corner, in places: x, y."""
    extent: Float[Tensor, "b 2 i j"]
    """The logarithms of the box's width and height in places."""
    classes: Float[Tensor, "b k i j"]
    """The logits of the classes."""


@dataclass(frozen=True)
class Points:
    """The places of some centres, row after row, and boxes in sides of the picture."""

    boxes: Float[Tensor, "b p 4"]
    classes: Int[Tensor, "b p"]
    scores: Float[Tensor, "b p"]


class CentrePointNet(nn.Module):
    """Halvings of a picture down to a 16th and doublings back, each beside the maps of its size.

    Args:
        width: maps at half the size, a multiple of 8; they double whenever the size is halved.
        words: which words each class is made of, k w. A class's logit is the sum of its words', so that
            red is learned from whatever is red.
        stride: pixels of a place's side, 2 or 4.
    """

    words: Float[Tensor, "k w"]

    def __init__(self, *, width: int, words: Float[Tensor, "k w"], stride: int) -> None:
        super().__init__()
        widths = [width * 2**i for i in range(4)]
        self.stem = nn.Conv2d(3, width, 5, stride=2, padding=2)
        self.down = nn.ModuleList(Residual(a, b) for a, b in itertools.pairwise(widths))
        steps = 2 if stride == 4 else 3
        upward = list(itertools.pairwise(widths[::-1]))[:steps]
        self.up = nn.ModuleList(Joined(wide, narrow) for wide, narrow in upward)
        last = widths[-1 - steps]
        self.head = nn.Sequential(nn.Conv2d(last, 2 * width, 3, padding=1), nn.ReLU())
        self.told = nn.Conv2d(2 * width, 5 + words.shape[1], 1)
        bias: Any = self.told.bias
        nn.init.constant_(bias[:1], RARE)
        self.register_buffer("words", words)

    def forward(self, pixels: Float[Tensor, "b 3 h w"]) -> PointMaps:
        """What it says of values from 0 to 255, sides multiples of 16."""
        maps = [self.stem(pixels / 127.5 - 1)]
        for stage in self.down:
            maps.append(stage(maps[-1]))
        x = maps.pop()
        for stage in self.up:
            x = stage(x, maps.pop())
        told = self.told(self.head(x)).float()
        classes = torch.einsum("kw,bwij->bkij", self.words, told[:, 5:])
        return PointMaps(told[:, 0], told[:, 1:3], told[:, 3:5], classes)


class Joined(nn.Module):
    """Maps at twice their size beside those that the way down had there, in one convolution."""

    def __init__(self, wide: int, narrow: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(wide + narrow, narrow, 3, padding=1), nn.GroupNorm(8, narrow), nn.ReLU()
        )

    def forward(
        self, low: Float[Tensor, "b c i j"], beside: Float[Tensor, "b e k l"]
    ) -> Float[Tensor, "b e k l"]:
        doubled = interpolate(low, beside.shape[2:], mode="nearest")
        out: Tensor = self.body(torch.cat([doubled, beside], 1))
        return out


def class_words(classes: list[str]) -> Float[Tensor, "k w"]:
    """Which words each class is made of, by word and its place in the name; where names have not all the
    same number of words, each class is a word of its own.

    >>> class_words(["red cube", "red ball", "blue ball"])
    tensor([[0., 1., 0., 1.],
            [0., 1., 1., 0.],
            [1., 0., 1., 0.]])
    """
    split = [name.split() for name in classes]
    if len({len(words) for words in split}) > 1:
        return torch.eye(len(classes))
    said = [set(enumerate(words)) for words in split]
    order = sorted(set().union(*said))
    return torch.tensor([[float(word in own) for word in order] for own in said])


def centre_places(
    boxes: Float[Tensor, "b o 4"], rows: int, columns: int
) -> tuple[Int[Tensor, "b o"], Float[Tensor, "b o 2"], Float[Tensor, "b o 2"]]:
    """The place of each box's centre, counted row after row; where in it the centre is; and the sides of
    the box in places."""
    grid = torch.tensor([columns, rows], device=boxes.device)
    centre = (boxes[..., :2] + boxes[..., 2:]) / 2 * grid
    corner = torch.minimum(centre.floor().clamp(min=0), grid - 1)
    place = (corner[..., 1] * columns + corner[..., 0]).long()
    return place, centre - corner, (boxes[..., 2:] - boxes[..., :2]) * grid


def heat_of(
    boxes: Float[Tensor, "b o 4"], there: Bool[Tensor, "b o"], rows: int, columns: int
) -> Float[Tensor, "b i j"]:
    """How near each place is to a centre: 1 there, falling as a Gaussian whose deviation is an eighth of
    the box's side."""
    place, _, sides = centre_places(boxes, rows, columns)
    x = torch.arange(columns, device=boxes.device) - (place % columns)[..., None]
    y = torch.arange(rows, device=boxes.device) - (place // columns)[..., None]
    spread = (sides / 8).clamp(min=0.3)
    across = (-0.5 * (x / spread[..., :1]).square()).exp()
    down = (-0.5 * (y / spread[..., 1:]).square()).exp()
    each = down[..., :, None] * across[..., None, :] * there[..., None, None]
    if not each.shape[1]:
        return each.new_zeros(len(boxes), rows, columns)
    return each.amax(1)


def gathered(maps: Float[Tensor, "b c i j"], place: Int[Tensor, "b p"]) -> Float[Tensor, "b p c"]:
    """The values of maps at some places."""
    rows = maps.flatten(2).transpose(1, 2)
    return rows.gather(1, place[..., None].expand(-1, -1, rows.shape[2]))


def peaks(maps: PointMaps, count: int) -> Points:
    """The surest centres: places where the heat is higher than at all eight beside them."""
    heat = maps.heat.sigmoid()
    _, rows, columns = heat.shape
    highest = heat == max_pool2d(heat[:, None], 3, stride=1, padding=1)[:, 0]
    tops = (heat * highest).flatten(1)
    scores, place = tops.topk(min(count, tops.shape[1]))
    corner = torch.stack([place % columns, place // columns], -1)
    centre = corner + gathered(maps.offset, place)
    half = gathered(maps.extent, place).clamp(max=WIDEST).exp() / 2
    grid = torch.tensor([columns, rows], device=heat.device).repeat(2)
    boxes = torch.cat([centre - half, centre + half], -1) / grid
    return Points(boxes.clamp(0, 1), gathered(maps.classes, place).argmax(-1), scores)
