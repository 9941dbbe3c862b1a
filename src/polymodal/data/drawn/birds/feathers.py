"""The colours and patterns of a bird's surface, and the outlines of its wings and tail.

The codes are those of the values in GROUPS: a face of code 1 is masked, a tail of code 0 forked.
"""

import numpy as np

from polymodal.data.drawn.birds.bird_lighting import blend, linear, rough, scaled
from polymodal.data.drawn.birds.bird_shapes import Picture
from polymodal.data.drawn.birds.bird_streams import COAT, between
from polymodal.data.drawn.birds.pixel_compiling import inlined
from polymodal.data.drawn.birds.plumage import (
    BACK,
    BELLY,
    BREAST,
    BREAST_PATTERN,
    CROWN,
    FACE,
    GROUPS,
    IS_BACK,
    IS_BELLY,
    IS_BREAST,
    IS_CROWN,
    IS_FOREHEAD,
    IS_NAPE,
    IS_THROAT,
    RGB,
    THROAT,
)
from polymodal.data.drawn.birds.shape_depth import clip, ramp
from polymodal.data.drawn.kernel import randomness
from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.vectors import Vector, get

PAINT = np.zeros((len(GROUPS), max(map(len, GROUPS.values())), 3))
for _group, _values in enumerate(GROUPS.values()):
    for _code, _value in enumerate(_values):
        PAINT[_group, _code] = linear(RGB.get(_value, (0, 0, 0)))
"""The colour of every value of every group; black where it has none."""

PALE, DARK, INK = linear((244, 238, 222)), linear((58, 42, 36)), linear((26, 24, 28))

JITTER = 0.15
"""How much lighter or darker than its word a colour may be."""


@helper
def wear_coat(seed: int, item: int, codes: np.ndarray, coat: np.ndarray) -> None:
    """Write the colour of each group of one bird."""
    u = randomness.uniforms(seed, item, COAT, codes.size)
    for group in range(codes.size):
        shade = between(u[group], 1.0 - JITTER, 1.0 + JITTER)
        for channel in range(3):
            coat[group, channel] = shade * PAINT[group, codes[group], channel]


@helper
def wave(value: float) -> float:
    """1 at whole numbers, 0 halfway between, straight from one to the other."""
    return abs(2.0 * (value - np.floor(value)) - 1.0)


@helper
def dots(x: float, y: float, radius: float, edge: float) -> float:
    """1 inside the dots of a staggered grid of step 1."""
    row = np.floor(y)
    x += 0.5 * (row - 2.0 * np.floor(0.5 * row))
    dx, dy = x - np.floor(x) - 0.5, y - row - 0.5
    return clip(0.5 + (radius - np.sqrt(dx * dx + dy * dy)) / edge)


@helper
def breast_marks(pattern: int, at: float, around: float, pixel: float) -> float:
    """How dark a breast is marked, with spots or stripes, so far along and around the body."""
    if pattern == 1:
        return dots(around / 0.40, at / 0.36, 0.30, max(2.8 * pixel, 0.1))
    if pattern == 2:
        return clip(0.5 + (wave(at / 0.38) - 0.58) / max(5.0 * pixel, 0.12))
    return 0.0


@helper
def with_face(pattern: int, colour: Vector, ways: Vector) -> Vector:
    """The head's colour with a mask through the eye or a brow above it, each with an edge."""
    back, front, side = ways
    share = ramp(front, -0.55, -0.3)
    if pattern == 1:
        off = abs(back - 0.14)
        colour = blend(colour, PALE, share * ramp(0.34 - off, 0.0, 0.08))
        return blend(colour, INK, share * ramp(0.24 - off, 0.0, 0.08))
    if pattern == 2:
        off, share = abs(back - 0.52), share * ramp(abs(side), 0.2, 0.4)
        colour = blend(colour, INK, share * ramp(0.26 - off, 0.0, 0.08))
        return blend(colour, PALE, share * ramp(0.17 - off, 0.0, 0.08))
    return colour


@inlined
def body_colour(picture: Picture, at: float, ways: Vector, pixel: float) -> tuple[Vector, int]:
    """The colour of a place of the body, and the part that it is.

    Args:
        picture: of a bird with its codes and its coat.
        at: how far along the spine: 0 at the tail, 2 and 3 in the trunk, 4 in the neck, 5 in the head.
        ways: how much the surface faces to the bird's back, its front and its right.
        pixel: the side of a pixel, in units of the bird.
    """
    codes, coat = picture.codes, picture.coat
    back, front, side = ways
    head, chest, bib = ramp(at, 4.2, 4.5), ramp(at, 1.95, 2.3), ramp(at, 3.35, 3.6)
    under = ramp(0.06 - 0.30 * ramp(at, 3.6, 4.6) - back, -0.09, 0.09)
    around = side / (abs(side) + abs(back) + 1e-9)
    marks = breast_marks(codes[BREAST_PATTERN], at, around, pixel)
    breast = blend(get(coat[BREAST], 0), DARK, 0.85 * marks)
    lower = blend(blend(get(coat[BELLY], 0), breast, chest), get(coat[THROAT], 0), bib)
    crown = with_face(codes[FACE], get(coat[CROWN], 0), ways)
    colour = blend(blend(get(coat[BACK], 0), crown, head), lower, under)
    fluff = 0.9 + 0.2 * rough(picture.noise, 9.0 * at, 5.0 * back + 3.0 * around)
    if under > 0.5:
        part = IS_THROAT if bib > 0.5 else IS_BREAST if chest > 0.5 else IS_BELLY
    elif head > 0.5:
        part = IS_FOREHEAD if front > 0.3 and back > 0.1 else IS_CROWN
    else:
        part = IS_NAPE if at > 3.45 else IS_BACK
    return scaled(colour, fluff), part


@helper
def wing_edges(along: float, spread: float) -> tuple[float, float]:
    """How far a wing reaches above and below its axis: pointed when folded, fingered when open."""
    along = clip(along)
    bulge = 2.6 * np.sqrt(along) * (1.0 - along)
    if spread == 0.0:
        return 0.10 * bulge, 0.235 * bulge
    tip = max(along - 0.3, 0.0) / 0.7
    chord = np.sqrt(clip(along / 0.15) * (1.0 - tip * tip))
    finger = ramp(wave(9.0 * along + 1.5), 0.5, 1.0) * ramp(along, 0.25, 0.6)
    return 0.09 * bulge, (0.20 + 0.24 * spread) * chord * (1.0 - 0.2 * finger)


@helper
def wing_depth(along: float, aside: float, edges: tuple[float, float]) -> float:
    """How deep a place lies in a wing of such edges."""
    return min(min(edges[1] - aside, aside + edges[0]), min(along, 1.0 - along))


@helper
def wing_colour(
    pattern: int, colour: Vector, along: float, share: float, spread: float, pixel: float
) -> Vector:
    """The colour of a wing: coverts, flight feathers beside each other, then spots or bars.

    `share` is how far a place lies from the upper edge (0) to the lower (1).
    """
    if spread == 0.0:
        flight, vane = ramp(along - 0.16 * share, 0.26, 0.36), wave(4.0 * share)
    else:
        flight, vane = ramp(share, 0.40, 0.52), wave(9.0 * along + 1.5 * share)
    colour = scaled(colour, 1.12 - flight * (0.30 + 0.28 * ramp(vane, 0.6, 1.0)))
    if pattern == 1:
        spots = dots(along / 0.15, (share - 0.08) / 0.32, 0.28, max(8.0 * pixel, 0.12))
        return blend(colour, PALE, 0.95 * spots * ramp(0.86 - along, 0.0, 0.1))
    if pattern == 2:
        off = min(abs(along - 0.20 - 0.12 * share), abs(along - 0.42 - 0.12 * share))
        return blend(colour, PALE, 0.95 * clip(0.5 + (0.038 - off) / max(1.2 * pixel, 0.012)))
    return colour


@helper
def tail_depth(form: int, along: float, aside: float) -> float:
    """How deep a place lies in a tail, which is forked, a fan or pointed."""
    if along < -0.1 or along > 1.1:
        return -1.0
    off = abs(aside)
    if form == 0:
        wide = 0.085 + 0.27 * max(along, 0.0)
        end = 1.0 - 0.55 * max(1.0 - off / wide, 0.0)
        return min(min(0.96 * (wide - off), 0.6 * (end - along)), along)
    if form == 1:
        far = np.sqrt(along * along + aside * aside)
        return min(min(0.86 * (0.10 + 0.58 * along - off), 0.98 - far), along)
    wide = 0.10 + 0.20 * along if along < 0.42 else 0.184 * (1.0 - along) / 0.58
    return min(0.95 * (wide - off), along)


@helper
def tail_colour(colour: Vector, along: float, aside: float) -> Vector:
    """The colour of a tail: feathers beside each other, darker towards their ends."""
    vane = wave(5.0 * aside / (0.1 + 0.45 * max(along, 0.0)) + 0.5)
    return scaled(colour, 1.1 - 0.25 * along - 0.25 * ramp(vane, 0.55, 1.0))


@helper
def eye_colour(colour: Vector, dx: float, dy: float, radius: float, pixel: float) -> Vector:
    """The colour of an eye so far from its centre: iris, pupil, dark rim and a spark of light."""
    far = np.sqrt(dx * dx + dy * dy)
    colour = blend(colour, INK, clip(0.5 + (0.5 * radius - far) / pixel))
    colour = blend(colour, INK, clip(0.5 + (far - 0.9 * radius) / pixel))
    dx, dy = dx + 0.3 * radius, dy + 0.35 * radius
    spark = clip(0.5 + (0.24 * radius - np.sqrt(dx * dx + dy * dy)) / pixel)
    return blend(colour, (1.0, 1.0, 1.0), 0.9 * spark)
