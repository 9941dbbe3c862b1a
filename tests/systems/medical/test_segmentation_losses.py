"""Losses of segmentations, against plain sums in float64."""

import math

import pytest
import torch

from polymodal.systems.medical.segmentation_losses import dice_loss, segmentation_loss


def test_both_losses_are_plain_sums() -> None:
    torch.manual_seed(0)
    logits, truth = torch.randn(3, 3, 2, 4), torch.randint(3, (3, 2, 4))
    counts = torch.tensor([True, False, True])
    entropies, common, found, true = [], [0.0] * 3, [0.0] * 3, [0.0] * 3
    for b in (0, 2):
        terms = []
        for y in range(2):
            for x in range(4):
                own = [math.exp(v) for v in logits[b, :, y, x].tolist()]
                likely = [v / sum(own) for v in own]
                k = int(truth[b, y, x])
                terms.append(-math.log(likely[k]))
                common[k] += likely[k]
                true[k] += 1
                found = [a + p for a, p in zip(found, likely, strict=True)]
        entropies.append(sum(terms) / 8)
    dice = sum(1 - (2 * common[k] + 1) / (found[k] + true[k] + 1) for k in (1, 2)) / 2
    loss = segmentation_loss(logits, truth, counts, 0.5).item()
    assert loss == pytest.approx(sum(entropies) / 2 + 0.5 * dice, abs=1e-5)
    assert dice_loss(logits, truth, counts).item() == pytest.approx(dice, abs=1e-5)
    alone = segmentation_loss(logits, truth, counts, 0.0).item()
    assert alone == pytest.approx(sum(entropies) / 2, abs=1e-5)
    nobody = segmentation_loss(logits, truth, torch.zeros(3, dtype=torch.bool), 0.5)
    assert nobody == 0
