"""Finders and encoders of regions, opened by their description."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float, Float32

from polymodal.data.records import Images
from polymodal.nn.regions.finding import Finder
from polymodal.nn.regions.networks import CropNetwork, MapNetwork
from polymodal.nn.regions.opencv_detector import OpenCVDetector
from polymodal.nn.regions.own_files import OwnFiles
from polymodal.nn.regions.pixels import Nothing, Pixels
from polymodal.nn.regions.selective_search import SelectiveSearch
from polymodal.nn.regions.transformers_detector import TransformersDetector
from polymodal.nn.regions.truth import Truth
from polymodal.nn.regions.windows import Windows


@runtime_checkable
class Encoder(Protocol):
    """Makes a vector of each region, in two parts."""

    def prepare(self, pictures: Images, boxes: list[Float32[np.ndarray, "_ 4"]]) -> Any:
        """What the processor does: crops, for instance."""

    def encode(self, prepared: Any) -> Float[np.ndarray, "m d"]:
        """What the device does: the vectors of all boxes, picture after picture."""


def open_finder(told: Mapping[str, Any], device: torch.device) -> Finder:
    """One finder of a description."""
    kind, source, count = told["kind"], told["source"], told["count"]
    finders: Mapping[str, Callable[[], Finder]] = {
        "truth": lambda: Truth(count),
        "windows": lambda: Windows(count),
        "selective-search": lambda: SelectiveSearch(count),
        "opencv": lambda: OpenCVDetector(source, count),
        "own": lambda: OwnFiles(source, count),
        "transformers": lambda: TransformersDetector(source, count, device),
    }
    return finders[kind]()


def open_encoder(told: Mapping[str, Any], device: torch.device) -> Encoder:
    """The encoder of a description."""
    if told["kind"] == "none":
        return Nothing()
    if told["kind"] == "pixels":
        return Pixels(told["crop"], told["context"])
    network = MapNetwork if told["pool"] == "roi" else CropNetwork
    return network(told["kind"], told["crop"], told["context"], device)
