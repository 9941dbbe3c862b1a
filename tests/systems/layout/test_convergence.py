"""Two objects that come together: their layouts, and how often both are found."""

import numpy as np
import pytest
import torch

from ocgans import TINY
from polymodal.data.layouts import rows_of
from polymodal.metrics.layout_fidelity import FoundObjects
from polymodal.systems.layout import ocgan, spotter
from polymodal.systems.layout.convergence import (
    GAPS,
    SIDE,
    convergence_scores,
    converging,
    touching,
)

CLASSES = ("ball", "cube")


def test_boxes_come_together_until_they_overlap():
    steps = converging("ball")
    gaps = [float(step.boxes[1, 0] - step.boxes[0, 2]) for step in steps]
    assert gaps == pytest.approx([gap * SIDE for gap in GAPS], abs=1e-6)
    assert gaps == sorted(gaps, reverse=True)
    assert [touching(step) for step in steps] == [gap <= 0 for gap in GAPS]
    for step in steps:
        assert step.labels == ("ball", "ball")
        assert step.boxes[:, 2] - step.boxes[:, 0] == pytest.approx([SIDE, SIDE])
        assert step.boxes[0, 0] + step.boxes[1, 2] == pytest.approx(1)  # about the middle


LEARNED = {"classes": list(CLASSES), "size": 32, "most": 8}


@pytest.fixture
def generator(monkeypatch):
    """Pictures that are the numbers of their layouts, and the layouts."""
    system, layouts = ocgan.build(ocgan.Config(**TINY | {"lambda_p": 0.0}), LEARNED), []

    def compose(own, count, seed):
        first = len(layouts)
        layouts.extend(layout for layout in own for _ in range(count))
        return np.arange(first, len(layouts)).repeat(3).reshape(-1, 1, 1, 3)

    monkeypatch.setattr(system, "compose", compose)
    return system, layouts


def detector(layouts, what):
    """A detector that sees of each layout what `what` gives."""
    system = spotter.build(spotter.Config(width=8), LEARNED)

    def find(pictures):
        rows = rows_of([layouts[n] for n in pictures[:, 0, 0, 0].tolist()], CLASSES)
        pairs = zip(rows.boxes, rows.classes, strict=True)
        return [what(torch.from_numpy(boxes), torch.from_numpy(kinds)) for boxes, kinds in pairs]

    system.find = find
    return system


def both(boxes, kinds):
    return FoundObjects(boxes, kinds, torch.ones(2))


def of_another_class(boxes, kinds):
    return FoundObjects(boxes, 1 - kinds, torch.ones(2))


def merged_where_they_touch(boxes, kinds):
    if boxes[0, 2] < boxes[1, 0]:
        return both(boxes, kinds)
    whole = torch.tensor([[boxes[0, 0], boxes[0, 1], boxes[1, 2], boxes[1, 3]]])
    return FoundObjects(whole, kinds[:1], torch.ones(1))


@pytest.mark.parametrize(
    ("what", "apart", "near"),
    [(both, 100, 100), (of_another_class, 0, 0), (merged_where_they_touch, None, 0)],
)
def test_both_objects_must_be_found(generator, what, apart, near):
    system, layouts = generator
    scores = convergence_scores(system, detector(layouts, what), CLASSES, count=3)
    assert len(layouts) == 7 * 3 * len(CLASSES)
    far = sum(not touching(step) for step in converging("ball"))
    expected = apart if apart is not None else 100 * far / 7
    assert scores["apart"] == pytest.approx(expected)
    assert scores["apart_touching"] == near
    assert scores["apart_1"] == (0 if apart == 0 else 100)
    assert scores["apart_7"] == near
