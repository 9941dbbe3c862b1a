"""Image models of transformers as encoders: a folder or hub id, convolutional or of patches."""

from dataclasses import replace

import torch

from polymodal.diagnosis.encoders import Encoder, of_module
from polymodal.diagnosis.receptive_fields import cell
from polymodal.nn.feature_maps import Convolutional, fitting_size, with_maps
from polymodal.nn.image_encoders import Backbone, describe_backbone


def of_backbone(source: str, pixels: int, device: torch.device) -> Encoder:
    """The model at a hub id or folder, for pictures of some pixels a side.

    Pictures are brought to the size that it was trained at, where it has one. Attention lets every token
    see all patches: by convention it stands for its own.
    """
    description = describe_backbone(source)
    backbone = Backbone(description)
    backbone.load_pretrained()
    size = fitting_size(description["config"], pixels)
    model = backbone.model.eval().to(device)
    scaling = {"size": size, "mean": description["mean"], "std": description["std"]}
    maps = with_maps(model, size)
    if isinstance(maps, Convolutional):
        return of_module(maps, **scaling)
    encoder = of_module(maps, **scaling, window=cell(size, maps.side))
    return replace(encoder, sight="its patch, by convention")
