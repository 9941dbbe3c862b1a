"""Scans, their modalities and their mask move together."""

from dataclasses import replace

import pytest
import torch

from polymodal.nn.scan_augment import Moving, moved

STILL = Moving(turn=0.0, scale=0.0, flip=0.0, brightness=0.0, contrast=0.0)


@pytest.mark.parametrize("dims", [2, 3])
def test_modalities_and_mask_move_together(dims: int) -> None:
    torch.manual_seed(0)
    mask = torch.zeros(8, *[16] * dims, dtype=torch.long)
    mask[(slice(None), *[slice(4, 9)] * dims)] = 3
    scans = [mask[:, None].float(), 2 * mask[:, None].float().repeat(1, 2, *[1] * dims)]
    how = replace(STILL, turn=20.0, scale=0.1, flip=0.5)
    found, labels = moved(scans, mask, how)
    assert labels.dtype == torch.long
    assert labels.unique().tolist() == [0, 3]
    assert not labels.equal(mask)
    for scan, times in zip(found, (1, 2), strict=True):
        agree = ((scan[:, 0] > 1.5 * times) == (labels == 3)).float().mean()
        assert agree > 0.98
    assert any(not torch.equal(labels[0], other) for other in labels[1:])


def test_nothing_moves_where_nothing_is_asked_for() -> None:
    torch.manual_seed(0)
    mask = torch.randint(3, (2, 7, 9))
    scan = torch.randn(2, 1, 7, 9)
    (found,), labels = moved([scan], mask, STILL)
    torch.testing.assert_close(found, scan)
    assert labels.equal(mask)


def test_a_flip_is_of_the_last_axis_alone() -> None:
    mask = torch.randint(3, (2, 4, 5, 6))
    (_,), labels = moved([mask[:, None].float()], mask, replace(STILL, flip=1.0))
    assert labels.equal(mask.flip(-1))


def test_each_modality_has_a_brightness_of_its_own() -> None:
    torch.manual_seed(0)
    scan = torch.randn(2, 1, 6, 6)
    how = replace(STILL, brightness=0.5)
    (one, other), _ = moved([scan, scan], torch.zeros(2, 6, 6, dtype=torch.long), how)
    for found in (one, other):
        away = (found - scan).flatten(1)
        assert (away.std(1) < 1e-5).all()
        assert (away.abs().amax(1) <= 0.5).all()
    assert not torch.allclose(one, other)
