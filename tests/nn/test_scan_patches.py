"""Patches: modalities and mask at one place, anywhere, or where there is foreground."""

import pytest
import torch

from polymodal.nn.scan_patches import patches


def numbered(count: int, *grid: int) -> torch.Tensor:
    """Every place of every item has a number of its own."""
    return torch.arange(count * torch.tensor(grid).prod().item()).view(count, *grid)


@pytest.mark.parametrize("grid", [(9, 12), (6, 9, 8)])
def test_modalities_and_mask_are_cut_at_one_place(grid: tuple[int, ...]) -> None:
    mask = numbered(5, *grid)
    scans = [mask[:, None].float(), mask[:, None].float().repeat(1, 2, *[1] * len(grid)) + 0.5]
    (one, two), found = patches(scans, mask, 4, 0.0)
    assert found.shape == (5, *[4] * len(grid))
    assert one[:, 0].equal(found.float())
    assert two[:, 1].equal(found + 0.5)
    corners = found.flatten(1)[:, 0]
    assert len(set((corners - mask.flatten(1)[:, 0]).tolist())) > 1  # each at a place of its own
    steps = found[:, 1] - found[:, 0]  # neighbours of the patch are neighbours of the scan
    assert (steps == mask[0, 1].flatten()[0] - mask[0, 0].flatten()[0]).all()


def test_every_place_may_be_cut_and_short_sides_are_whole() -> None:
    torch.manual_seed(0)
    mask = numbered(400, 3, 6)
    _, found = patches([mask[:, None].float()], mask, 4, 0.0)
    assert found.shape == (400, 3, 4)
    assert set((found[:, 0, 0] - mask[:, 0, 0]).tolist()) == {0, 1, 2}


def test_the_share_holds_foreground() -> None:
    torch.manual_seed(0)
    mask = torch.zeros(300, 40, 40, dtype=torch.long)
    mask[:200, 3, 37] = 2  # the others have none
    for share, least, most in ((1.0, 200, 200), (0.5, 80, 130), (0.0, 0, 15)):
        (scan,), found = patches([mask[:, None].float()], mask, 8, share)
        held = (found > 0).flatten(1).any(1)
        assert least <= held.sum() <= most
        assert not held[200:].any()
        assert scan[:, 0].equal(found.float())


def test_the_generator_alone_decides() -> None:
    mask = numbered(8, 20, 20)
    cut = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        cut.append(patches([mask[:, None].float()], mask, 5, 0.5)[1])
    assert cut[0].equal(cut[1])
    assert not cut[0].equal(cut[2])
