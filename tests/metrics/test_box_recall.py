"""The recall of true boxes by proposals."""

import math

import torch

from polymodal.metrics.box_recall import box_recall


def test_each_true_box_needs_one_proposal_that_overlaps_it_by_half():
    true = torch.tensor([[0.0, 0, 4, 4], [4, 4, 8, 8], [0, 0, 1, 8]])
    proposed = torch.tensor([[0.0, 0, 4, 2], [4, 4, 8, 5.9]])  # of 1/2, of less, none
    none = torch.zeros(0, 4)
    found = box_recall([(true, proposed), (none, proposed), (true[:1], none)])
    assert (found["recall"], found["boxes"]) == (25, 4)
    assert box_recall([(true[:2], proposed)], overlap=0.4)["recall"] == 100


def test_without_true_boxes_it_is_not_known():
    assert math.isnan(box_recall([])["recall"])
