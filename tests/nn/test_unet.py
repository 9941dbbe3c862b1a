"""U-Nets of two and three dimensions: shapes, sides that cannot be halved, fusion of modalities."""

import pytest
import torch
from torch import nn

from polymodal.base.errors import PolymodalError
from polymodal.nn import modality_fusion
from polymodal.nn.unet import UNetDecoder, UNetEncoder, convolutions, cropped, divisible, widths_of


@pytest.mark.parametrize(("dims", "grid"), [(2, (12, 9)), (3, (8, 5, 6))])
def test_every_place_has_logits(dims: int, grid: tuple[int, ...]) -> None:
    widths = widths_of(8, 3)
    encoder = UNetEncoder(dims=dims, inputs=2, widths=widths)
    decoder = UNetDecoder(dims=dims, inputs=widths, widths=widths, outputs=4)
    scan = torch.randn(2, 2, *grid)
    maps = encoder(divisible(scan, 3))
    assert [own.shape[1] for own in maps] == [8, 16, 32]
    sides = [-(-side // 4) * 4 for side in grid]
    assert list(maps[-1].shape[2:]) == [side // 4 for side in sides]
    assert cropped(decoder(maps), grid).shape == (2, 4, *grid)


def test_what_is_added_repeats_the_border_and_is_cut_off() -> None:
    scan = torch.arange(30.0).view(1, 1, 5, 6)
    wide = divisible(scan, 3)
    assert wide.shape == (1, 1, 8, 8)
    assert wide[0, 0, 7, :6].equal(scan[0, 0, 4])
    assert wide[0, 0, :5, 7].equal(scan[0, 0, :, 5])
    assert cropped(wide, (5, 6)).equal(scan)


def test_an_item_does_not_depend_on_the_others_of_its_batch() -> None:
    torch.manual_seed(0)
    encoder = UNetEncoder(dims=2, inputs=1, widths=[8, 16])
    scans = torch.randn(3, 1, 8, 8)
    together, alone = encoder.train()(scans), encoder(scans[:1])
    for one, other in zip(together, alone, strict=True):
        torch.testing.assert_close(one[:1], other)


def test_no_other_dimensions() -> None:
    with pytest.raises(PolymodalError, match="for 2 or 3 dimensions, not 1"):
        UNetEncoder(dims=1, inputs=1, widths=[8])


def test_fusions_are_moments_of_what_there_is() -> None:
    torch.manual_seed(0)
    maps = torch.randn(2, 3, 4, 5, 5).double()
    subsets = torch.tensor([[[1, 1, 0], [0, 1, 1]], [[1, 1, 1], [0, 0, 1]], [[0, 0, 0], [1, 0, 0]]])
    found = modality_fusion.moments(maps, subsets.bool())
    assert found.shape == (3, 2, 8, 5, 5)
    for s in range(3):
        for b in range(2):
            own = maps[b, subsets[s, b].bool()]
            mean = own.mean(0) if len(own) else torch.zeros(4, 5, 5).double()
            spread = own.var(0, unbiased=False) if len(own) else 0 * mean
            torch.testing.assert_close(found[s, b, :4], mean)
            if len(own):
                torch.testing.assert_close(found[s, b, 4:], spread)
    torch.testing.assert_close(modality_fusion.mean(maps, subsets.bool()), found[:, :, :4])
    with pytest.raises(PolymodalError, match="Unknown fusion 'max'"):
        modality_fusion.named("max")


@pytest.mark.parametrize(("width", "groups"), [(8, 8), (12, 4), (16, 8), (6, 2), (5, 1)])
def test_maps_are_normalised_in_groups(width: int, groups: int) -> None:
    """All twelve maps as one group kept a U-Net from finding anything for hundreds of steps."""
    norms = [layer for layer in convolutions(2, 3, width) if isinstance(layer, nn.GroupNorm)]
    assert [norm.num_groups for norm in norms] == [groups, groups]
