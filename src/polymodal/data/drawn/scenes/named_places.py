"""Where the objects that a text names are seen in its picture, for worlds of a fixed number of objects."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float32

from polymodal.data.drawn.scenes import geometry, stage
from polymodal.data.drawn.scenes.attributes import RELATIONS
from polymodal.data.drawn.scenes.scene_drawing import Layout

AXES = {"left": (geometry.ASIDE, 1), "right": (geometry.ASIDE, -1),
        "front": (geometry.AHEAD, 1), "behind": (geometry.AHEAD, -1)}  # fmt: skip
"""Along which axis of the ground the first object of a relation lies before the second, and which way."""


def places(layouts: Sequence[Layout]) -> Float32[np.ndarray, "n k o 2"]:
    """The centres of a text's objects, in its order, for each text that is true of each image.

    In sides of the picture, from its left and its top. The texts are those of the column
    'true_texts', in its order: for two-objects one for each relation.
    """
    bodies = np.stack([layout.bodies for layout in layouts])
    seen = centres(np.stack([layout.stage for layout in layouts]), bodies)
    if bodies.shape[1] == 1:
        return seen[:, None]
    along = (sign * bodies[:, :, axis] for axis, sign in (AXES[name] for name in RELATIONS))
    orders = np.stack([place.argsort(1) for place in along], 1)
    return np.take_along_axis(seen[:, None], orders[..., None], 2)


def centres(stages: np.ndarray, bodies: np.ndarray) -> Float32[np.ndarray, "n o 2"]:
    """Where the middle of each body falls in the picture: across / (depth · tangent of half the view)."""
    away = bodies[:, :, geometry.X : geometry.X + 3] - stages[:, None, stage.EYE : stage.EYE + 3]
    right, up, forward = (
        (away * stages[:, None, start : start + 3]).sum(-1)
        for start in (stage.RIGHT, stage.UP, stage.FORWARD)
    )
    seen = np.stack([right, -up], -1) / (forward * stage.LENS)[..., None]
    return (0.5 * (seen + 1)).astype(np.float32)
