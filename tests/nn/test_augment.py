"""Crops are windows of the picture itself."""

import pytest
import torch

from polymodal.nn.augment import RandomCrop

H, W = 10, 14
IMAGES = (
    torch.arange(3 * H * W).remainder(251).to(torch.uint8).reshape(1, 3, H, W).repeat(40, 1, 1, 1)
)


def windows(high: int, wide: int, flip: bool) -> set[bytes]:
    """Every window of the picture, and its mirror images if asked."""
    picture, found = IMAGES[0], set()
    for top in range(H - high + 1):
        for left in range(W - wide + 1):
            window = picture[:, top : top + high, left : left + wide]
            found.add(window.numpy().tobytes())
            if flip:
                found.add(window.flip(2).numpy().tobytes())
    return found


@pytest.mark.parametrize("flip", [False, True])
def test_training_crops_are_windows_anywhere(flip):
    torch.manual_seed(0)
    crops = RandomCrop(0.7, flip).train()(IMAGES)
    assert crops.shape == (40, 3, 7, 10)
    seen = {crop.numpy().tobytes() for crop in crops}
    assert seen <= windows(7, 10, flip)
    assert len(seen) > 10
    assert (not seen <= windows(7, 10, False)) == flip


def test_half_of_the_pictures_are_flipped():
    torch.manual_seed(0)
    found = RandomCrop(1.0, flip=True).train()(IMAGES)
    flipped = (found == IMAGES.flip(3)).flatten(1).all(1)
    assert ((found == IMAGES).flatten(1).all(1) ^ flipped).all()
    assert 10 < flipped.sum() < 30


@pytest.mark.parametrize("flip", [False, True])
def test_testing_takes_the_middle(flip):
    found = RandomCrop(0.6, flip).eval()(IMAGES)
    assert torch.equal(found, IMAGES[:, :, 2:8, 3:11])


def test_nothing_to_do():
    state = torch.get_rng_state()
    assert RandomCrop().train()(IMAGES) is IMAGES
    assert torch.equal(RandomCrop().eval()(IMAGES), IMAGES)
    assert torch.equal(torch.get_rng_state(), state)
