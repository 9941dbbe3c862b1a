"""What is seen of a shape at one point of a picture."""

import numpy as np

from polymodal.data.drawn.birds import feathers
from polymodal.data.drawn.birds.bird_lighting import lit, rough, scaled
from polymodal.data.drawn.birds.bird_shapes import (
    BARK,
    BODY,
    COLOUR,
    EYE_DISC,
    FACING,
    FORM,
    HORN,
    KIND,
    LEAF,
    LIMB,
    OPACITY,
    ORIGIN,
    PART,
    PATTERN,
    SHADOW,
    SOFT,
    TAIL_BLADE,
    UNIT,
    WING_BLADE,
    Picture,
)
from polymodal.data.drawn.birds.pixel_compiling import inlined
from polymodal.data.drawn.birds.shape_depth import clip, disc, feel, limb, meet, ramp, within
from polymodal.data.drawn.kernel.vectors import Vector, dot, get, unit

Seen = tuple[float, Vector, int]
"""How much of a point a shape covers, the light that comes from it, and the part that it is."""

NOTHING = (0.0, (0.0, 0.0, 0.0), 0)


@inlined
def see_body(picture: Picture, shape: np.ndarray, x: float, y: float, pixel: float) -> Seen:
    """What is seen of the body at a point."""
    depth, nearest = meet(shape, picture.balls, x, y, pixel)
    cover = clip(0.5 + depth / pixel)
    if cover == 0.0:
        return NOTHING
    at, facing, ways = feel(shape, picture.balls, x, y, pixel, nearest)
    colour, part = feathers.body_colour(picture, at, ways, pixel / shape[UNIT])
    return cover, lit(picture.light, colour, facing, 0.0), part


@inlined
def see_limb(picture: Picture, shape: np.ndarray, x: float, y: float, pixel: float) -> Seen:
    """What is seen of a limb at a point: bark is rough, a beak shines and has a line where it opens."""
    depth, at, facing = limb(shape, picture.balls, x, y, pixel)
    cover = clip(0.5 + depth / pixel)
    if cover == 0.0:
        return NOTHING
    colour, gloss = get(shape, COLOUR), 0.0
    if shape[PATTERN] == BARK:
        grain = rough(picture.noise, 7.0 * at, 3.0 * facing[1])
        grain += rough(picture.noise, 21.0 * at, 6.0 * facing[1])
        colour = scaled(colour, 0.5 + 0.55 * grain)
    if shape[PATTERN] == HORN:
        off = abs(dot(facing, get(shape, FACING)) + 0.12)
        colour, gloss = scaled(colour, 1.0 - 0.45 * ramp(0.2 - off, 0.0, 0.2)), 0.25
    return cover, lit(picture.light, colour, facing, gloss), int(shape[PART])


@inlined
def see_wing(picture: Picture, shape: np.ndarray, x: float, y: float, pixel: float) -> Seen:
    """What is seen of a wing at a point, or of its shadow: it bends down towards its lower edge."""
    along, aside = within(shape, x, y)
    edges = feathers.wing_edges(along, shape[FORM])
    depth, soft = shape[UNIT] * feathers.wing_depth(along, aside, edges), max(pixel, shape[SOFT])
    cover = shape[OPACITY] * clip(0.5 + depth / soft)
    colour, out = get(shape, COLOUR), get(shape, FACING)
    if cover == 0.0 or shape[KIND] == SHADOW:
        return cover, colour, 0
    share = clip((aside + edges[0]) / max(edges[0] + edges[1], 1e-6))
    colour = feathers.wing_colour(
        int(shape[PATTERN]), colour, along, share, shape[FORM], pixel / shape[UNIT]
    )
    facing = unit((out[0], out[1] + share - 0.5, out[2] + 0.25))
    return cover, lit(picture.light, colour, facing, 0.0), int(shape[PART])


@inlined
def see_tail(picture: Picture, shape: np.ndarray, x: float, y: float, pixel: float) -> Seen:
    """What is seen of a tail at a point."""
    along, aside = within(shape, x, y)
    depth = feathers.tail_depth(int(shape[FORM]), along, aside)
    cover = clip(0.5 + shape[UNIT] * depth / pixel)
    if cover == 0.0:
        return NOTHING
    colour = feathers.tail_colour(get(shape, COLOUR), along, aside)
    return cover, lit(picture.light, colour, get(shape, FACING), 0.0), int(shape[PART])


@inlined
def see_eye(shape: np.ndarray, x: float, y: float, pixel: float) -> Seen:
    """What is seen of an eye at a point: a disc on the head, which leans away as the head does."""
    dx, dy = x - shape[ORIGIN], y - shape[ORIGIN + 1]
    nx, ny, nz = get(shape, FACING)
    lean = (dx * nx + dy * ny) * (1.0 / max(nz, 0.3) - 1.0) / max(nx * nx + ny * ny, 1e-9)
    dx, dy = dx + lean * nx, dy + lean * ny
    cover = clip(0.5 + (shape[UNIT] - np.sqrt(dx * dx + dy * dy)) / pixel)
    colour = feathers.eye_colour(get(shape, COLOUR), dx, dy, shape[UNIT], pixel)
    return cover, colour, int(shape[PART])


@inlined
def see_leaf(shape: np.ndarray, x: float, y: float, pixel: float) -> Seen:
    """What is seen of a leaf at a point: a rib, and halves that are lit unlike each other."""
    along, aside = within(shape, x, y)
    off, soft = abs(aside), max(pixel, shape[SOFT]) / shape[UNIT]
    if along <= 0.0 or along >= 1.0 or off > shape[FORM] + soft:
        return NOTHING
    depth = 2.4 * shape[FORM] * np.sqrt(along) * (1.0 - along) - off
    cover = shape[OPACITY] * clip(0.5 + depth / soft) * clip(min(along, 1.0 - along) / soft)
    half = 0.99 + 0.13 * min(max(aside / max(0.01, soft), -1.0), 1.0)
    rib = clip(1.0 - off / max(0.03, soft))
    return cover, scaled(get(shape, COLOUR), half + 0.25 * rib), 0


@inlined
def see(picture: Picture, shape: np.ndarray, x: float, y: float, pixel: float) -> Seen:
    """What is seen of a shape at a point, in an image whose pixels have this side."""
    kind = int(shape[KIND])
    if kind == BODY:
        return see_body(picture, shape, x, y, pixel)
    if kind == LIMB:
        return see_limb(picture, shape, x, y, pixel)
    if kind in (WING_BLADE, SHADOW):
        return see_wing(picture, shape, x, y, pixel)
    if kind == TAIL_BLADE:
        return see_tail(picture, shape, x, y, pixel)
    if kind == EYE_DISC:
        return see_eye(shape, x, y, pixel)
    if kind == LEAF:
        return see_leaf(shape, x, y, pixel)
    return (
        shape[OPACITY] * clip(0.5 + disc(shape, x, y) / max(pixel, shape[SOFT])),
        get(shape, COLOUR),
        0,
    )
