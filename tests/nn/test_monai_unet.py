"""MONAI's U-Net in place of ours: its halves fit each other, and where it is absent that is said."""

import sys
import warnings
from types import ModuleType

import pytest
import torch
from torch import nn

from polymodal.base.errors import PolymodalError
from polymodal.nn.monai_unet import MonaiDecoder, MonaiEncoder
from polymodal.nn.unet import widths_of
from polymodal.systems.medical import cmim, hemis, shaspec, unet
from scans import INFORMED, made, scans

PLACE = "monai.networks.nets.basic_unet"


def stand_in() -> ModuleType:
    """Blocks that take what MONAI's take."""

    def conv(dims: int, own: int, width: int) -> nn.Module:
        return (nn.Conv2d if dims == 2 else nn.Conv3d)(own, width, 3, padding=1)

    class Down(nn.Sequential):
        def __init__(self, spatial_dims, in_chns, out_chns, act, norm, bias):
            pool = nn.MaxPool2d if spatial_dims == 2 else nn.MaxPool3d
            super().__init__(pool(2), conv(spatial_dims, in_chns, out_chns))

    class UpCat(nn.Module):
        def __init__(self, spatial_dims, in_chns, cat_chns, out_chns, act, norm, bias, halves):
            super().__init__()
            self.up = nn.Upsample(scale_factor=2)
            most = in_chns // 2 if halves else in_chns
            self.convs = conv(spatial_dims, cat_chns + most, out_chns)

        def forward(self, x, x_e):
            return self.convs(torch.cat([x_e, self.up(x)], 1))

    found = ModuleType(PLACE)
    found.TwoConv = lambda dims, own, width, act, norm, bias: conv(dims, own, width)
    found.Down, found.UpCat = Down, UpCat
    return found


@pytest.fixture(params=["stand-in", "monai"])
def blocks(request, monkeypatch):
    """MONAI's blocks where it is installed, and such as take the same."""
    if request.param == "stand-in":
        monkeypatch.setitem(sys.modules, PLACE, stand_in())
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of its own imports
        pytest.importorskip(PLACE)


@pytest.mark.parametrize(("dims", "grid"), [(2, (12, 8)), (3, (8, 12, 4))])
def test_every_place_has_logits(blocks, dims: int, grid: tuple[int, ...]) -> None:
    widths = widths_of(8, 3)
    maps = MonaiEncoder(dims=dims, inputs=2, widths=widths)(torch.randn(2, 2, *grid))
    assert [own.shape[1] for own in maps] == widths
    assert list(maps[-1].shape[2:]) == [side // 4 for side in grid]
    decoder = MonaiDecoder(dims=dims, inputs=[2 * w for w in widths], widths=widths, outputs=4)
    assert decoder([torch.cat([own, own], 1) for own in maps]).shape == (2, 4, *grid)


@pytest.mark.parametrize("module", [cmim, hemis, unet, shaspec])
def test_every_system_takes_it(blocks, module) -> None:
    train = scans(6)
    settings = INFORMED if module is cmim else {}
    system = made(module, train, unet="monai", **settings)
    found = system.segment({"flair": train[0]["flair"]})
    assert found.labels.shape == (16, 16)
    assert any(isinstance(own, MonaiEncoder) for own in system.modules())


def test_without_it_the_extra_is_named(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, PLACE, None)
    with pytest.raises(PolymodalError, match=r"--unet monai needs MONAI, .*polymodal\[medical\]"):
        made(unet, scans(6), unet="monai")
