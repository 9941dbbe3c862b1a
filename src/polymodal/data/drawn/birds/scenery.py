"""What a bird is seen against and through: a blurred landscape, a branch, and leaves before it."""

import numpy as np

from polymodal.data.drawn.birds import pose as stand
from polymodal.data.drawn.birds.bird_lighting import blend, linear, lit, rough, scaled
from polymodal.data.drawn.birds.bird_shapes import (
    BARK,
    DISC,
    FORM,
    KIND,
    LEAF,
    LIMB,
    OPACITY,
    ORIGIN,
    PATTERN,
    SOFT,
    UNIT,
    Picture,
    add_ball,
    add_shape,
    bound,
    lay_blade,
)
from polymodal.data.drawn.birds.bird_streams import COVER, LAND, PERCH, between
from polymodal.data.drawn.birds.pose import turn
from polymodal.data.drawn.birds.shape_depth import ramp
from polymodal.data.drawn.kernel import randomness
from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.vectors import Vector, get, unit

ABOVE, BELOW, PATCHES, LEAVES = 0, 1, 2, 3
LANDSCAPES = np.array(
    [
        [linear(rgb) for rgb in colours]
        for colours in (
            ((74, 104, 70), (36, 58, 42), (140, 164, 96), (58, 104, 52), (110, 146, 70)),
            ((178, 204, 150), (104, 146, 92), (226, 230, 176), (96, 150, 72), (150, 186, 92)),
            ((126, 172, 214), (206, 222, 230), (240, 244, 246), (112, 150, 98), (88, 124, 92)),
            ((112, 104, 150), (236, 176, 138), (250, 210, 168), (92, 78, 92), (132, 92, 92)),
            ((204, 212, 176), (134, 156, 78), (234, 218, 146), (122, 146, 62), (176, 166, 82)),
            ((160, 122, 82), (98, 76, 54), (220, 160, 74), (196, 116, 44), (150, 84, 44)),
            ((196, 208, 222), (230, 234, 238), (168, 182, 202), (146, 160, 176), (196, 204, 212)),
            ((172, 194, 190), (98, 124, 116), (222, 222, 196), (134, 148, 96), (172, 166, 116)),
        )
    ]
)
"""The colours of a wood, a glade, the sky, dusk, a meadow, autumn, winter and a marsh: above, below, of
patches of light, and of two kinds of leaf."""

MOST_LEAVES, MOST_DISCS, MOST_TWIGS = 16, 8, 5
"""The most leaves and discs of light far off, and the most leaves on the branch."""

WOOD = linear((104, 82, 66))


@helper
def sway(one: float, other: float) -> tuple[float, float]:
    """A direction from two random numbers."""
    c, s = turn(2.0 * one - 1.0)
    return (c, s) if other < 0.5 else (-c, -s)


@helper
def leaf_colour(picture: Picture, kind: float, shade: float) -> Vector:
    """A colour of the landscape's leaves, of one kind or the other by a random number."""
    return scaled(get(picture.land[LEAVES if kind < 0.5 else LEAVES + 1], 0), shade)


@helper
def add_leaf(
    picture: Picture,
    place: tuple[float, float],
    way: tuple[float, float],
    length: float,
    width: float,
    colour: Vector,
    soft: float,
) -> np.ndarray:
    """Add a leaf that grows from a place that way; its width is in lengths."""
    colour = lit(picture.light, colour, unit((0.3 * way[1], -0.35, 0.9)), 0.0)
    shape = add_shape(picture, colour)
    shape[KIND], shape[FORM], shape[SOFT] = LEAF, width, soft
    lay_blade(
        shape,
        (place[0], place[1], 0.0),
        (length * way[0], length * way[1], 0.0),
        (-length * way[1], length * way[0], 0.0),
        width,
        width,
    )
    return shape


@helper
def add_landscape(seed: int, item: int, picture: Picture) -> None:
    """Add what is far off: leaves or stalks, and discs of light."""
    u = randomness.uniforms(seed, item, LAND, 4 + 9 * MOST_LEAVES + 4 * MOST_DISCS)
    stalks = u[1] < 0.4
    for k in range(int(u[2] * (MOST_LEAVES - 7)) + 8):
        v = u[4 + 9 * k :]
        x, y, way = between(v[0], -0.1, 1.1), between(v[1], -0.1, 1.1), sway(v[2], v[3])
        length, width = between(v[4], 0.22, 0.5), 0.3
        if stalks:
            y, length, width = 1.1, 2.0 * length, 0.06
            way = (0.35 * way[0], -np.sqrt(1.0 - 0.1225 * way[0] * way[0]))
        colour = leaf_colour(picture, v[5], between(v[6], 0.6, 1.3))
        shape = add_leaf(picture, (x, y), way, length, width, colour, between(v[7], 0.03, 0.08))
        shape[OPACITY] = between(v[8], 0.35, 0.8)
    for k in range(int(u[3] * (MOST_DISCS + 1))):
        v = u[4 + 9 * MOST_LEAVES + 4 * k :]
        radius = between(v[2], 0.03, 0.1)
        shape = add_shape(picture, get(picture.land[PATCHES], 0))
        shape[KIND], shape[UNIT], shape[SOFT] = DISC, radius, 0.03
        shape[ORIGIN], shape[ORIGIN + 1], shape[OPACITY] = v[0], v[1], between(v[3], 0.12, 0.4)
        bound(shape, v[0], v[1], radius + 0.03)


@helper
def add_perch(seed: int, item: int, picture: Picture) -> None:
    """Add the branch that the bird stands on, with some leaves."""
    u, pose = randomness.uniforms(seed, item, PERCH, 12 + 5 * MOST_TWIGS), picture.pose
    thick, bend = pose[stand.SCALE] * between(u[0], 0.055, 0.10), between(u[1], -0.1, 0.1)
    colour = blend(WOOD, scaled(get(picture.land[BELOW], 0), 0.6), 0.5 * u[2])
    shape = add_shape(picture, scaled(colour, between(u[3], 0.7, 1.5)))
    shape[KIND], shape[PATTERN] = LIMB, BARK
    for k in range(7):
        x = -0.15 + 1.3 * k / 6.0
        far = x - pose[stand.CENTRE]
        y = pose[stand.FEET] + pose[stand.SLOPE] * far + thick + bend * far * far * far
        add_ball(picture, shape, (x, y, 0.0), thick * between(u[4 + k], 0.88, 1.12))
    for k in range(int(u[11] * (MOST_TWIGS + 1))):
        v = u[12 + 5 * k :]
        y = pose[stand.FEET] + pose[stand.SLOPE] * (v[0] - pose[stand.CENTRE]) + thick
        way, colour = sway(v[1], v[2]), leaf_colour(picture, v[3], between(v[4], 0.8, 1.4))
        add_leaf(picture, (v[0], y), way, 0.13 + 0.06 * way[1] * way[1], 0.34, colour, 0.0)


@helper
def add_cover(seed: int, item: int, picture: Picture) -> None:
    """Add what hides some of the bird in every other picture: leaves, some on a twig."""
    u, pose = randomness.uniforms(seed, item, COVER, 26), picture.pose
    if u[0] > 0.5:
        return
    x = pose[stand.CENTRE] + between(u[1], -0.32, 0.32)
    y = pose[stand.CENTRE + 1] + between(u[2], -0.25, 0.25)
    if u[3] < 0.35:
        way = sway(u[4], u[5])
        shape = add_shape(picture, scaled(WOOD, between(u[6], 0.6, 1.2)))
        shape[KIND], shape[PATTERN] = LIMB, BARK
        for k in range(3):
            far = 0.8 * (k - 1)
            add_ball(picture, shape, (x + far * way[0], y + far * way[1], 0.0), 0.016 - 0.002 * k)
    for k in range(int(3.0 * u[7]) + 1):
        v = u[8 + 6 * k :]
        colour = leaf_colour(picture, v[3], between(v[4], 0.7, 1.4))
        length, soft = between(v[2], 0.16, 0.30), 0.012 * v[5]
        add_leaf(picture, (x, y), sway(v[0], v[1]), length, 0.3, colour, soft)


@helper
def landscape(seed: int, item: int) -> np.ndarray:
    """The colours of the landscape of one item."""
    return LANDSCAPES[int(randomness.uniforms(seed, item, LAND, 1)[0] * LANDSCAPES.shape[0])]


@helper
def backdrop(picture: Picture, x: float, y: float) -> Vector:
    """The farthest: two colours that go over into each other, with patches of light."""
    share = y + 0.5 * (rough(picture.noise, 2.3 * x + 5.0, 2.3 * y) - 0.5)
    colour = blend(
        get(picture.land[ABOVE], 0), get(picture.land[BELOW], 0), ramp(share, 0.05, 0.95)
    )
    patch = ramp(rough(picture.noise, 4.1 * x, 3.1 * y + 11.0), 0.5, 0.95)
    return blend(colour, get(picture.land[PATCHES], 0), 0.55 * patch)
