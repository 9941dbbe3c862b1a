"""The regions of a user's picture: found as those of the training data were, or otherwise, or given."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float32

from polymodal.base.errors import PolymodalError
from polymodal.data.image_files import SQUARE, WHOLE
from polymodal.data.user_images import Framed, framed
from polymodal.nn.regions import describe, encode_boxes, propose

Regions = tuple[Float32[np.ndarray, "r 4"], Float32[np.ndarray, "r d"]]


def regions_of_photo(
    given: Any,
    learned: Mapping[str, Any],
    *,
    boxes: Any = None,
    finder: str | None = None,
    count: int = 30,
    device: str = "cpu",
) -> tuple[Framed, Regions]:
    """A picture in the frame that the model knows, its boxes there, and their features.

    Args:
        given: a path, a PIL image or an array.
        learned: what the model learned of its training data.
        boxes: x0, y0, x1, y1 in pixels of the picture; the model chooses among them.
        finder: what finds boxes, if not what found those of the training data.
        count: how many it finds.
        device: where networks run.
    """
    photo = framed(given, learned["size"], WHOLE if learned["whole"] else SQUARE)
    how = dict(learned["regions"])
    if boxes is not None:
        own = inside(photo, checked(boxes))
        features = encode_boxes(photo.pixels, own, how, device)
        if features.shape[1] != learned["region_width"]:
            raise PolymodalError(
                "The model knows of each region what its finder says of it, such as class scores, "
                "besides what it looks like; of given boxes that is not known. Leave the boxes out."
            )
        return photo, (own, features)
    if finder is not None:
        how["finders"] = describe(finder=finder, count=count)["finders"]
    found, features = propose(photo.pixels[None], how, device)
    there = (found[0, :, 2:] > found[0, :, :2]).all(1)
    return photo, (found[0][there], features[0][there])


def checked(boxes: Any) -> Float32[np.ndarray, "r 4"]:
    """Boxes as a user gives them."""
    try:
        found = np.asarray(boxes, np.float32)
    except (TypeError, ValueError) as error:
        raise PolymodalError(
            f"Boxes are rows of x0, y0, x1, y1 in pixels, not {boxes!r}."
        ) from error
    if found.ndim != 2 or found.shape[1] != 4 or not len(found):
        raise PolymodalError(
            f"Boxes are rows of x0, y0, x1, y1, but these have the shape {found.shape}."
        )
    bad = np.flatnonzero(~(np.isfinite(found).all(1) & (found[:, 2:] > found[:, :2]).all(1)))
    if len(bad):
        row = found[bad[0]].tolist()
        raise PolymodalError(
            f"Box {bad[0] + 1} is {row}, but a box is x0, y0, x1, y1 with x0 < x1 and y0 < y1."
        )
    return found


def inside(photo: Framed, boxes: Float32[np.ndarray, "r 4"]) -> Float32[np.ndarray, "r 4"]:
    """A user's boxes in the frame that the model knows, each of which has a part in it."""
    found = photo.inside(boxes)
    bad = np.flatnonzero(~(found[:, 2:] > found[:, :2]).all(1))
    if len(bad):
        height, width = photo.whole.shape[:2]
        raise PolymodalError(
            f"Box {bad[0] + 1} is {boxes[bad[0]].tolist()}, outside of what the model sees of this image "
            f"of {width}×{height} pixels."
        )
    return found
