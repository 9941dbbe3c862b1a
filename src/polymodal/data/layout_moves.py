"""Layouts in which one object goes from its place to another, step by step."""

import numpy as np

from polymodal.base.errors import PolymodalError
from polymodal.data.layout_record import Layout


def moved(layout: Layout, place: int, by: tuple[float, float], count: int) -> list[Layout]:
    """A layout with one of its objects ever further from its place.

    Args:
        layout: where all begins.
        place: the object that moves, counted from 0.
        by: how far it is across and down in the last, in sides of the picture.
        count: the first and the last among them.

    >>> start = Layout(("ball",), np.array([[0.0, 0.0, 0.25, 0.25]], np.float32))
    >>> [step.boxes[0, 0].item() for step in moved(start, 0, (0.5, 0.0), 3)]
    [0.0, 0.25, 0.5]
    """
    if not 0 <= place < len(layout):
        raise PolymodalError(
            f"There is no object {place + 1} to move: this layout has objects 1 to {len(layout)}."
        )
    if count < 2:
        raise PolymodalError(f"To see an object move takes 2 pictures at least, not {count}.")
    way = np.array([*by, *by], np.float32)
    end = layout.boxes[place] + way
    if end.min() < 0 or end.max() > 1:
        edges = ", ".join(f"{edge:.2f}" for edge in end.tolist())
        raise PolymodalError(
            f"Moved by {by[0]:g}, {by[1]:g}, object {place + 1} ({layout.labels[place]}) is outside the "
            f"picture, at {edges}. Ways are in sides of the picture: give a shorter one."
        )
    found = []
    for share in np.linspace(0, 1, count):
        boxes = layout.boxes.copy()
        boxes[place] += np.float32(share) * way
        found.append(Layout(layout.labels, boxes))
    return found
