"""What places see, against the arithmetic of layers and against pixels moved one by one."""

import pytest
import torch
from torch import nn

from polymodal.base.errors import PolymodalError
from polymodal.diagnosis.encoders import Maps
from polymodal.diagnosis.receptive_fields import cell, fitting, looked_through, measured
from polymodal.nn.scratch import Window, alex, basic


@pytest.mark.parametrize(
    "encoder", [basic(64, slim=8), alex(64, hidden=32, slim=16)], ids=["basic", "alex"]
)
def test_it_is_what_the_layers_say(encoder):
    assert measured(Maps(encoder), 64) == encoder.window()


@pytest.mark.parametrize(
    ("network", "window"),
    [
        (nn.Conv2d(3, 2, 5, stride=3, dilation=2), Window(size=9, step=3, start=0)),
        (nn.Sequential(nn.AvgPool2d(4), nn.Conv2d(3, 2, 3, padding=1)), Window(12, 4, -4)),
        (nn.Sequential(nn.MaxPool2d(2), nn.ReLU(), nn.BatchNorm2d(3)), Window(2, 2, 0)),
    ],
)
def test_other_layers_too(network, window):
    assert measured(network, 40) == window


def test_weights_do_not_matter():
    """Nor does it matter that no ReLU lets anything through."""
    network = nn.Sequential(nn.Conv2d(3, 2, 3), nn.ReLU(), nn.Conv2d(2, 2, 3))
    for weight in network.parameters():
        nn.init.constant_(weight, -1.0)
    assert measured(network, 20) == Window(size=5, step=1, start=0)
    assert network.training  # a copy was tried


def test_nothing_outside_of_it_matters():
    network = nn.Sequential(
        nn.Conv2d(3, 4, 3, 2, 1), nn.ReLU(), nn.MaxPool2d(3, 2), nn.Conv2d(4, 4, 3)
    )
    window = measured(network, 40)
    before = torch.rand(1, 3, 40, 40)
    place = 2
    first = window.start + place * window.step
    after = torch.rand(1, 3, 40, 40)
    inside = slice(first, first + window.size)
    after[:, :, inside, inside] = before[:, :, inside, inside]
    with torch.no_grad():
        one, other = (network(x)[0, :, place, place] for x in (before, after))
    assert torch.allclose(one, other)


def test_places_that_see_all():
    class Centred(nn.Module):
        def forward(self, x):
            return x - x.mean((2, 3), keepdim=True)

    assert measured(Centred(), 16) is None
    assert cell(48, 6) == Window(size=8, step=8)
    with pytest.raises(PolymodalError, match="7 places a side do not divide 48 pixels evenly"):
        cell(48, 7)


def test_what_is_cut_off_at_the_rim_is_told_from_the_rest():
    for window in (Window(9, 4, -3), Window(5, 2, 0), Window(13, 3, -5)):
        assert fitting(looked_through(window, 32, 8)) == window


def test_places_that_are_not_alike():
    sees = looked_through(Window(5, 2, 0), 32, 8)
    sees[20, 3] = True
    with pytest.raises(PolymodalError, match="could not be told"):
        fitting(sees)
    with pytest.raises(PolymodalError, match="Say it with `window`"):
        fitting(looked_through(Window(31, 2, -15), 20, 2))


def test_a_comparison_hides_what_is_seen():
    class Comparing(nn.Module):
        def forward(self, x):
            return (x > 0).double()[:, :, ::2, ::2]

    with pytest.raises(PolymodalError, match="Say it with `window`"):
        measured(Comparing(), 16)


def test_numbers_that_are_none():
    class Broken(nn.Module):
        def forward(self, x):
            return x / 0

    with pytest.raises(PolymodalError, match="Some features are not finite"):
        measured(Broken(), 8)
