"""The finder `transformers:MODEL`: DETR, RT-DETR and their like, or OWLv2, by hub id or folder."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor
from torch.nn import functional

from polymodal.base.errors import PolymodalError
from polymodal.nn.pretrained import broken, load_model, reason
from polymodal.nn.regions.finding import Found, PictureFinder
from polymodal.nn.regions.overlaps import distinct

OVERLAP = 0.7
"""Intersection over union above which the less certain of two boxes is left out."""


class TransformersDetector(PictureFinder):
    """The boxes that most likely hold some object, however unlikely, with the score of each class.

    OWLv2, which takes its classes from a text, gives how likely each box holds anything.
    """

    def __init__(self, source: str, count: int, device: torch.device) -> None:
        self.count, self.device = count, device
        model, scaling = opened(source)
        self.model, self.scaling = model.to(device).eval(), scaling

    @torch.inference_mode()
    def search(self, pictures: Sequence[UInt8[np.ndarray, "_ _ 3"]]) -> list[Found]:
        """The boxes of each picture."""
        places, scores, best = self.detect(torch.cat([self.scaled(one) for one in pictures]))
        half = places[..., 2:] / 2
        corners = torch.cat([places[..., :2] - half, places[..., :2] + half], -1).clamp(0, 1)
        sides = torch.tensor([picture.shape[1::-1] * 2 for picture in pictures])
        corners = corners * sides[:, None].to(corners)
        boxes, likely, sure = (part.float().cpu().numpy() for part in (corners, scores, best))
        return [chosen(*some, self.count) for some in zip(boxes, likely, sure, strict=True)]

    def scaled(self, picture: UInt8[np.ndarray, "_ _ 3"]) -> Float[Tensor, "1 3 side side"]:
        """A picture as the model was trained to see it, a square of its size."""
        side = self.scaling["side"]
        pixels = torch.from_numpy(np.ascontiguousarray(picture)).to(self.device).permute(2, 0, 1)
        x = functional.interpolate(
            pixels[None] / 255, (side, side), mode="bilinear", antialias=True, align_corners=False
        )
        mean, std = (
            torch.tensor(self.scaling[name], device=x.device).view(3, 1, 1)
            for name in ("mean", "std")
        )
        return (x - mean) / std

    def detect(self, x: Float[Tensor, "b 3 h w"]) -> tuple[Tensor, Tensor, Tensor]:
        """Centres and sides b × n × 4, class scores b × n × c, and how likely each holds anything."""
        if hasattr(self.model, "objectness_predictor"):
            maps, _ = self.model.image_embedder(pixel_values=x)
            tokens = maps.flatten(1, 2)
            objects = self.model.objectness_predictor(tokens).sigmoid()
            return self.model.box_predictor(tokens, maps), objects[..., None], objects
        found = self.model(pixel_values=x)
        nothing = found.logits.shape[-1] > self.model.config.num_labels  # has a score, the last
        scores = found.logits.softmax(-1)[..., :-1] if nothing else found.logits.sigmoid()
        return found.pred_boxes, scores, scores.amax(-1)


def chosen(boxes: np.ndarray, scores: np.ndarray, best: np.ndarray, count: int) -> Found:
    """The most certain boxes that do not lie upon each other."""
    order = np.argsort(-best, kind="stable")
    order = order[(boxes[order, 2:] - boxes[order, :2] >= 1).all(1)]
    kept = order[distinct(boxes[order], count, OVERLAP)]
    return Found(boxes[kept], scores[kept])


def opened(source: str) -> tuple[Any, dict[str, Any]]:
    """The model at a hub id or folder, and how its pictures are scaled."""
    import transformers
    from transformers.image_processing_base import ImageProcessingMixin

    try:
        config = transformers.AutoConfig.from_pretrained(source, trust_remote_code=False)
        told, _ = ImageProcessingMixin.get_image_processor_dict(source)
        kind: Any = transformers.AutoModelForObjectDetection
        if config.model_type == "owlv2":
            kind = transformers.Owlv2ForObjectDetection
        model = load_model(kind, source, dtype=torch.float32)
    except ImportError as error:
        raise PolymodalError(
            f"The detector {source!r} needs packages that are not installed "
            f"({str(error).strip().splitlines()[0]}). Install them with: pip install "
            "'polymodal[vision]', or choose one whose backbone is of transformers."
        ) from error
    except broken() as error:
        raise PolymodalError(
            f"No detector could be opened at {source!r}: {reason(error)}\n"
            "Give a hub id that can be reached, or a folder with config.json, model.safetensors and "
            "preprocessor_config.json, of DETR, RT-DETR, OWLv2 or their like."
        ) from error
    size = told.get("size") or {}
    plain = told.get("do_normalize", True)
    return model, {
        "side": int(size.get("height") or size.get("shortest_edge") or 800),
        "mean": (told.get("image_mean") or [0.5] * 3) if plain else [0.0] * 3,
        "std": (told.get("image_std") or [0.5] * 3) if plain else [1.0] * 3,
    }
