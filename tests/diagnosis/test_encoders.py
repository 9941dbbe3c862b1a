"""Encoders of any kind: what they are given, what they find, and what is no encoder."""

import pytest
import torch
from torch import nn

from marks import CELL, SIZE, SPLITS, Knowing
from polymodal.base.errors import PolymodalError
from polymodal.diagnosis.encoders import as_encoder, of_learner, of_module
from polymodal.nn.scratch import Window, basic
from polymodal.systems.zeroshot import fc


def pictures(count=2, size=SIZE):
    generator = torch.Generator().manual_seed(0)
    return torch.randint(0, 256, (count, 3, size, size), dtype=torch.uint8, generator=generator)


def learner():
    config = fc.Config(dim=16, slim=16)
    return fc.build(config, fc.learn(config, SPLITS["train"]))


def test_a_learner_sees_the_middle_as_it_was_trained_to():
    system = learner()
    encoder = as_encoder(system, SIZE)
    assert (encoder.size, encoder.crop, encoder.pixels) == (42, 0.875, SIZE)
    assert encoder.window == system.encoder.window()
    middle = pictures()[:, :, 3:45, 3:45].float() / 127.5 - 1
    found = encoder.look(pictures())
    assert not system.training
    expected = system.encoder(middle)
    assert torch.equal(found.whole, expected.whole)
    assert torch.equal(found.local, expected.local)


def test_maps_alone_are_averaged():
    network = nn.Sequential(nn.Conv2d(3, 5, 4, 2, 1), nn.BatchNorm2d(5))
    encoder = of_module(network, size=SIZE, mean=(0.1, 0.2, 0.3), std=(0.4, 0.5, 0.6))
    scaled = pictures().float() / 255
    scaled = torch.stack(
        [(scaled[:, c] - m) / s for c, (m, s) in enumerate([(0.1, 0.4), (0.2, 0.5), (0.3, 0.6)])], 1
    )
    found = encoder.look(pictures())
    assert torch.allclose(found.local, network(scaled), atol=1e-6)
    assert torch.allclose(found.whole, found.local.mean((2, 3)))
    assert (encoder.window, encoder.sight) == (Window(4, 2, -1), "measured")


def test_a_module_may_give_both_as_a_pair_or_by_name():
    pair = as_encoder(Knowing(), SIZE)
    assert pair.look(pictures()).whole.shape == (2, 6)
    assert pair.window == Window(CELL, CELL)
    named = as_encoder(basic(SIZE, dim=16, slim=16), SIZE).look(pictures())
    assert named.whole.shape == (2, 16)
    assert named.local.shape == (2, 16, 6, 6)


def test_what_a_place_sees_can_be_said():
    encoder = of_module(nn.Conv2d(3, 2, 3), size=SIZE, window=Window(7, 1, -2))
    assert (encoder.window, encoder.sight) == (Window(7, 1, -2), "as given")
    assert as_encoder(encoder, 5) is encoder


def test_a_place_that_sees_all_stands_for_its_share():
    network = nn.Sequential(nn.Conv2d(3, 4, 8, 8), nn.GroupNorm(1, 4))
    encoder = of_module(network, size=SIZE)
    assert encoder.window == Window(8, 8)
    assert encoder.sight == "its own share of the picture, by convention: each sees all of it"


def test_pictures_of_another_size_are_resized():
    encoder = of_module(nn.Conv2d(3, 2, 4, 4), size=32)
    flat = torch.full((1, 3, SIZE, SIZE), 90, dtype=torch.uint8)
    assert torch.allclose(
        encoder.look(flat).local, encoder.look(flat[:, :, :32, :32]).local, atol=1e-5
    )
    assert encoder.look(flat).local.shape == (1, 2, 8, 8)


@pytest.mark.parametrize(
    ("network", "found"),
    [
        (nn.Sequential(nn.Flatten(), nn.Linear(3 * SIZE * SIZE, 4)), r"shape \(1, 4\)"),
        (nn.Sequential(nn.Conv2d(3, 2, SIZE)), r"shape \(1, 2, 1, 1\)"),
        (nn.Conv2d(3, 2, (3, 5)), r"shape \(1, 2, 46, 44\)"),
    ],
)
def test_what_gives_no_maps(network, found):
    with pytest.raises(PolymodalError, match=f"gives maps of features .* found .*{found}"):
        as_encoder(network, SIZE)


def test_what_is_no_encoder():
    with pytest.raises(
        PolymodalError, match="or a torch module that gives maps of features; found int"
    ):
        as_encoder(3, SIZE)
    with pytest.raises(PolymodalError, match="found dict"):

        class Odd(nn.Module):
            def forward(self, x):
                return {"maps": x}

        as_encoder(Odd(), SIZE)


def test_a_learner_of_other_pictures():
    assert of_learner(learner()).pixels == SIZE
