"""Two objects of one class that come together: how often they stay two, and the pictures (003, Fig. 6.1)."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from polymodal.base.files import write_bytes
from polymodal.data.records import Dataset
from polymodal.systems.layout.convergence import convergence_scores, converging
from polymodal.systems.layout.layout_gan import LayoutGAN
from polymodal.systems.layout.object_detector import ObjectDetector
from polymodal.training.system import Scores
from polymodal.views.layout_sheet import layout_image
from polymodal.views.picture_sheet import TILE, Row, sheet

CLASSES, COUNT, SHOWN = 12, 8, 3
"""Classes that are tried, pictures of each layout, and classes that are shown."""


def converging_objects(
    system: LayoutGAN, splits: Mapping[str, Dataset], spotter: ObjectDetector, *, out: Path
) -> Scores:
    """How often both objects are found, for classes from all over the list; the first few are drawn."""
    every = max(1, len(system.classes) // CLASSES)
    labels = system.classes[::every][:CLASSES]
    rows = []
    for number, label in enumerate(labels[:SHOWN]):
        steps = converging(label)
        if not number:
            drawn = np.stack([np.asarray(layout_image(step, TILE)) for step in steps])
            rows.append(Row(images=drawn, title="Layouts"))
        rows.append(Row(images=system.compose(steps), title=label))
    write_bytes(out, sheet(rows))
    return convergence_scores(system, spotter, labels, COUNT)
