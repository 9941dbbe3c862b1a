"""Regions of pictures: boxes by a finder, and a vector of each by an encoder, chosen by a description."""

from polymodal.nn.regions.description import describe, portable
from polymodal.nn.regions.proposing import (
    encode_boxes,
    propose,
    proposer,
    regions_of,
    with_proposals,
)

__all__ = [
    "describe",
    "encode_boxes",
    "portable",
    "propose",
    "proposer",
    "regions_of",
    "with_proposals",
]
