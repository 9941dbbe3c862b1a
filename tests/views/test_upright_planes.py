"""Planes of a volume, whatever its axes are, as radiologists look at them."""

from itertools import permutations, product

import numpy as np
import pytest

from polymodal.views.upright_planes import Turn, upright

RIGHT, FRONT, TOP = 0, 1, 2
SIZES = (2.0, 3.0, 5.0)
"""Steps in mm towards the right, the front and the top."""


def stored(order: tuple[int, ...], signs: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Where each voxel lies, as an array k, j, i, and the affine, if file axes have such directions."""
    affine = np.zeros((4, 4))
    affine[3, 3] = 1
    for axis, (way, sign) in enumerate(zip(order, signs, strict=True)):
        affine[way, axis] = sign * SIZES[way]
    k, j, i = np.indices((4, 4, 4))
    return np.einsum("wa,akji->wkji", affine[:3, :3], np.stack([i, j, k])), affine


@pytest.mark.parametrize("order", [*permutations(range(3))])
@pytest.mark.parametrize("signs", [*product((1, -1), repeat=3)])
def test_the_front_or_the_top_is_above_and_the_right_on_the_left(order, signs) -> None:
    places, affine = stored(order, signs)
    for along in range(3):
        across = order[2 - along]  # the direction in which planes follow each other
        turn = upright(affine, along)
        shown = np.stack([turn(own.take(1, along)) for own in places])
        above, left = {RIGHT: (TOP, FRONT), FRONT: (TOP, RIGHT), TOP: (FRONT, RIGHT)}[across]
        assert (np.diff(shown[above], axis=0) == -SIZES[above]).all()
        assert (np.diff(shown[left], axis=1) == -SIZES[left]).all()
        assert turn.pixel == (SIZES[above], SIZES[left])


def test_a_slightly_turned_head_is_shown_as_a_straight_one() -> None:
    _, affine = stored((0, 1, 2), (1, -1, 1))
    turned = affine.copy()
    turned[:3, :3] = [[1.96, -0.6, 0], [0.4, -2.94, 0.2], [0, 0.2, 5]]
    assert upright(turned, 0).flipped == upright(affine, 0).flipped == (False, True)


def test_a_picture_stays_as_it_is() -> None:
    plane = np.arange(6).reshape(2, 3)
    assert Turn()(plane).tolist() == plane.tolist()
