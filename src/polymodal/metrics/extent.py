"""Extent: whether the whole and its part are told apart, from text and from images (001, §3.4; R5).

Of each test item, an image with one of its crops and their two descriptions, all four scores are
taken: `scores[item, image, text]`, where 0 is the crop and 1 the whole. Chance is 50 % everywhere.
"""

from jaxtyping import Float
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.maths.similarity import slack

CROP, WHOLE = 0, 1


def extent(scores: Float[Tensor, "n 2 2"]) -> dict[str, float]:
    """The paper's 2×2 table in percent: the right image given a text, the right caption given an image.

    A balanced accuracy is the mean of a row: a model that always prefers the shorter caption has 50,
    however often it is right on crops. A tie counts against the model, and so does a NaN.

    >>> import torch
    >>> shorter = torch.tensor([[[3.0, 1.0], [2.0, 1.5]]])  # one item: the crop's text always wins
    >>> table = extent(shorter)
    >>> table["caption_given_crop"], table["caption_given_whole"], table["caption_balanced"]
    (100.0, 0.0, 50.0)
    """
    if scores.shape[1:] != (2, 2) or not len(scores):
        raise PolymodalError(
            "Extent needs the scores of crop and whole image with crop and whole text, n×2×2 for one "
            f"item or more; found shape {tuple(scores.shape)}."
        )
    right = {CROP: scores[:, CROP, CROP], WHOLE: scores[:, WHOLE, WHOLE]}
    table: dict[str, float] = {}
    for name, given in (("crop", CROP), ("whole", WHOLE)):
        other = WHOLE - given
        table[f"image_given_{name}"] = accuracy(right[given], scores[:, other, given])
        table[f"caption_given_{name}"] = accuracy(right[given], scores[:, given, other])
    for asked in ("image", "caption"):
        table[f"{asked}_balanced"] = 0.5 * (
            table[f"{asked}_given_crop"] + table[f"{asked}_given_whole"]
        )
    return table


def accuracy(right: Float[Tensor, " n"], wrong: Float[Tensor, " n"]) -> float:
    """The percentage of items whose right answer scores more than the wrong one, rounding aside."""
    return 100 * (wrong < slack(right)).double().mean().item()
