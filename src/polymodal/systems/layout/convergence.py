"""Two objects of one class that come together until their boxes overlap: do they stay two (003, Fig. 6.1)?"""

from collections.abc import Sequence

import numpy as np
import torch

from polymodal.data.layout_record import Layout
from polymodal.data.layouts import rows_of
from polymodal.maths.boxes import iou
from polymodal.metrics.layout_fidelity import OVERLAP, FoundObjects, Objects, matched
from polymodal.systems.layout.layout_gan import LayoutGAN
from polymodal.systems.layout.object_detector import ObjectDetector
from polymodal.training.system import Scores

SIDE = 0.2
"""The side of a box, in sides of the picture."""
GAPS = (1.5, 0.5, 0.2, 0.0, -0.1, -0.25, -0.4)
"""The gap between both boxes at each step, in sides of a box; below 0 they overlap by so much."""


def converging(label: str) -> list[Layout]:
    """Two boxes of one class beside each other, ever nearer to the middle of the picture."""
    found = []
    for gap in GAPS:
        left, top = 0.5 - SIDE * (1 + gap / 2), 0.5 - SIDE / 2
        boxes = [[start, top, start + SIDE, top + SIDE] for start in (left, 1 - left - SIDE)]
        found.append(Layout((label, label), np.array(boxes, np.float32)))
    return found


def touching(layout: Layout) -> bool:
    """Whether the two boxes touch or overlap."""
    return bool(layout.boxes[0, 2] > layout.boxes[1, 0] - 1e-6)


def convergence_scores(
    system: LayoutGAN, spotter: ObjectDetector, labels: Sequence[str], count: int, seed: int = 0
) -> Scores:
    """How often both objects are found, in percent: over all steps as `apart`, over those in which their
    boxes touch as `apart_touching`, and at each step.

    Args:
        system: what makes the pictures.
        spotter: what finds their objects.
        labels: the classes that are tried.
        count: pictures of each layout.
        seed: of their noise.
    """
    by_step = []
    for step in zip(*(converging(label) for label in labels), strict=True):
        pictures = torch.as_tensor(system.compose(step, count, seed=seed))
        rows = rows_of(step, system.classes)
        true = [
            Objects(torch.from_numpy(boxes), torch.from_numpy(classes))
            for boxes, classes in zip(rows.boxes, rows.classes, strict=True)
            for _ in range(count)
        ]
        both = map(both_found, true, spotter.find(pictures))
        by_step.append((touching(step[0]), 100 * float(np.mean(list(both)))))
    return {
        "apart": float(np.mean([share for _, share in by_step])),
        "apart_touching": float(np.mean([share for near, share in by_step if near])),
        **{f"apart_{number}": share for number, (_, share) in enumerate(by_step, 1)},
    }


def both_found(true: Objects, found: FoundObjects) -> bool:
    """Whether every object of a layout is found at its place."""
    near = iou(true.boxes.double(), found.boxes.double())
    alike = true.classes[:, None] == found.classes
    return matched(near, found.scores, (near >= OVERLAP) & alike) == len(true.boxes)
