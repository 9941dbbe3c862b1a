"""The scene-graph similarity module: layouts and pictures in, similarities and their loss out."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from polymodal.base.errors import PolymodalError
from polymodal.maths.layout_relations import RELATIONS, WAYS
from polymodal.nn.layout_maps import Layouts
from polymodal.nn.scene_graph_pictures import PictureEncoder
from polymodal.nn.scene_graph_similarity import (
    PictureFeatures,
    global_similarity,
    local_similarity,
)
from polymodal.nn.scene_graphs import GraphFeatures, SceneGraphEncoder
from polymodal.systems.layout.layout_losses import matching_loss
from polymodal.training.distributed import gather


@dataclass(frozen=True)
class Similarities:
    """How well m pictures match n graphs."""

    local: Float[Tensor, "m n"]
    whole: Float[Tensor, "m n"]


class SGSM(nn.Module):
    """Both encoders and how they are compared (003, §6.3.1).

    Args:
        description: what `systems.layout.sgsm.learn` found.
        classes: how many there are.
    """

    def __init__(self, description: dict[str, Any], classes: int) -> None:
        super().__init__()
        self.related = WAYS[description["relations"]]
        self.gamma1, self.gamma2, self.gamma3 = description["gammas"]
        self.pictures = PictureEncoder(description["pictures"], description["dim"])
        self.graphs = SceneGraphEncoder(
            classes=classes,
            relations=len(RELATIONS),
            dim=description["dim"],
            hidden=description["hidden"],
            layers=description["layers"],
        )

    def graph_features(self, layouts: Layouts) -> GraphFeatures:
        """Those of the scene graphs of layouts (003, B.3)."""
        related = self.related(layouts.boxes, layouts.there)
        features: GraphFeatures = self.graphs(layouts.classes, related, layouts.there)
        return features

    def similarities(self, pictures: PictureFeatures, graphs: GraphFeatures) -> Similarities:
        """Of every picture with every graph, in float32."""
        with torch.autocast(pictures.whole.device.type, enabled=False):
            one = PictureFeatures(pictures.each.float(), pictures.whole.float())
            other = GraphFeatures(graphs.each.float(), graphs.whole.float(), graphs.there)
            return Similarities(
                local_similarity(one, other, self.gamma1, self.gamma2),
                global_similarity(one, other),
            )

    def forward(self, pixels: Float[Tensor, "b 3 h w"], layouts: Layouts) -> Float[Tensor, ""]:
        """L_SGSM = L_L + L_G of pictures, of values from 0 to 255, and their layouts (003, eq. 6.3.5, 6.3.6).

        Negatives are those of all processes.
        """
        pictures, graphs = self.pictures(pixels), self.graph_features(layouts)
        found = self.similarities(
            PictureFeatures(gather(pictures.each), gather(pictures.whole)),
            GraphFeatures(
                gather(graphs.each), gather(graphs.whole), gather(graphs.there.to(torch.uint8)) > 0
            ),
        )
        return matching_loss(found.local, self.gamma3) + matching_loss(found.whole, self.gamma3)


def sgsm_of_run(
    weights: dict[str, Tensor], learned: dict[str, Any], classes: tuple[str, ...], size: int
) -> SGSM:
    """The module of a run of `polymodal train sgsm`, frozen, for a model of these classes and of pictures
    of this size."""
    if "sgsm" not in learned:
        raise PolymodalError(
            "--parts sgsm=RUN names a run that has no scene-graph similarity module. Give a run of "
            "`polymodal train sgsm`."
        )
    theirs = tuple(learned["classes"])
    if theirs != classes:
        other = sorted(set(theirs) ^ set(classes))
        differing = f", as {other[0]!r} is of one of them alone" if other else " in another order"
        raise PolymodalError(
            f"The run of --parts sgsm=RUN knows other classes than these data have ({len(theirs)}, not "
            f"{len(classes)}{differing}). Train sgsm on the same data."
        )
    module = SGSM(learned["sgsm"], len(classes))
    if module.pictures.convnet is not None and learned["size"] != size:
        raise PolymodalError(
            f"The run of --parts sgsm=RUN learned from pictures of {learned['size']} pixels a side, but "
            f"these are of {size}. Train sgsm on the same data, or with a frozen --image-encoder, which "
            "sees all pictures at its own size."
        )
    start = "module."
    module.load_state_dict(
        {k.removeprefix(start): v for k, v in weights.items() if k.startswith(start)}
    )
    return module.requires_grad_(False).eval()
