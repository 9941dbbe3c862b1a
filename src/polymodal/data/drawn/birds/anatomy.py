"""The shapes of a bird in its pose, from the farthest to the nearest, and the places of its parts.

Lengths are in the bird's own unit: from the breast to the root of the tail is about 0.8.
"""

import numpy as np

from polymodal.data.drawn.birds import pose as stand
from polymodal.data.drawn.birds.bird_lighting import scaled
from polymodal.data.drawn.birds.bird_shapes import (
    AT,
    BACK,
    BALL,
    BODY,
    FACING,
    FORM,
    FRONT,
    KIND,
    LIMB,
    OPACITY,
    PART,
    PATTERN,
    RADIUS,
    SHADOW,
    SIDE,
    SOFT,
    TAIL_BLADE,
    UNIT,
    WING_BLADE,
    Picture,
    X,
    Y,
    Z,
    add_ball,
    add_shape,
    lay_blade,
    note,
)
from polymodal.data.drawn.birds.feathers import wing_edges
from polymodal.data.drawn.birds.head import add_beak, add_crest, add_eye
from polymodal.data.drawn.birds.plumage import (
    BELLY,
    CREST,
    IS_BACK,
    IS_BELLY,
    IS_BREAST,
    IS_CROWN,
    IS_FOREHEAD,
    IS_LEFT_LEG,
    IS_LEFT_WING,
    IS_NAPE,
    IS_RIGHT_LEG,
    IS_RIGHT_WING,
    IS_TAIL,
    IS_THROAT,
    LEG,
    TAIL,
    TAIL_SHAPE,
    WING,
    WING_PATTERN,
)
from polymodal.data.drawn.birds.pose import UP, mixed, place
from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.vectors import Vector, along, cross, dot, get, put, unit

TRUNK = np.array(
    [[-0.62, 0.07, 0.050], [-0.40, 0.035, 0.150], [-0.09, 0.0, 0.250], [0.20, 0.04, 0.240]]
)
"""The knots of the spine from the tail to the breast: front, up, and the body's radius there."""

STEPS = 5
"""Balls from one knot to the next."""

TAIL_LENGTHS = np.array([0.54, 0.46, 0.62])
"""The length of a tail by its shape."""


@helper
def put_knots(pose: np.ndarray, knots: np.ndarray) -> None:
    """Write the knots of the spine as balls: four of the trunk, one of the neck, one of the head."""
    scale, skull = pose[stand.SCALE], pose[stand.SCALE] * pose[stand.SKULL]
    for k in range(4):
        put(knots[k], 0, place(pose, TRUNK[k, 0], TRUNK[k, 1], 0.0), 1.0)
        knots[k, RADIUS] = scale * TRUNK[k, 2] * (pose[stand.PLUMP] if k > 0 else 1.0)
        put(knots[k], BACK, get(pose, stand.BACK), 1.0)
        put(knots[k], FRONT, get(pose, stand.FRONT), 1.0)
        put(knots[k], SIDE, get(pose, stand.RIGHT), 1.0)
    head, front = get(pose, stand.HEAD), get(pose, stand.HEAD_FRONT)
    back = get(pose, stand.HEAD_BACK)
    neck = along(mixed(0.42, get(knots[3], 0), 0.58, head), -0.02 * scale, front)
    put(knots[4], 0, neck, 1.0)
    knots[4, RADIUS] = 0.90 * skull + 0.03 * scale
    put(knots[4], BACK, unit(mixed(0.75, back, -0.65, front)), 1.0)
    put(knots[4], FRONT, unit(mixed(0.65, back, 0.75, front)), 1.0)
    put(knots[5], 0, head, 1.0)
    knots[5, RADIUS] = skull
    put(knots[5], BACK, back, 1.0)
    put(knots[5], FRONT, front, 1.0)
    for k in range(4, 6):
        put(knots[k], SIDE, get(pose, stand.HEAD_RIGHT), 1.0)


@helper
def course(knots: np.ndarray, column: int, i: int, t: float) -> float:
    """What one column has between knot i and the next, on the curve of Catmull and Rom (1974)."""
    a, b = knots[max(i - 1, 0), column], knots[i, column]
    c, d = knots[i + 1, column], knots[min(i + 2, knots.shape[0] - 1), column]
    here, there = 0.5 * (c - a), 0.5 * (d - b)
    square, cube = 3.0 * (c - b) - 2.0 * here - there, 2.0 * (b - c) + here + there
    return b + t * (here + t * (square + t * cube))


@helper
def on_body(picture: Picture, first: int, at: float, back: float, front: float) -> Vector:
    """A place on the viewer's side of the body: so far along the spine, and from there so much to
    the bird's back and its front."""
    ball = picture.balls[first + int(at * STEPS + 0.5)]
    way = unit(mixed(back, get(ball, BACK), front, get(ball, FRONT)))
    return along(get(ball, 0), 0.9 * ball[RADIUS], unit((way[0], way[1], way[2] + 0.35)))


@helper
def add_body(picture: Picture) -> None:
    """Add the body, a ball after the other along the spine, and write where its parts are."""
    knots = np.zeros((6, BALL))
    put_knots(picture.pose, knots)
    shape = add_shape(picture, (0.0, 0.0, 0.0))
    shape[KIND], shape[UNIT] = BODY, picture.pose[stand.SCALE]
    first = picture.counts[1]
    for k in range(5 * STEPS + 1):
        i = min(k // STEPS, 4)
        t = (k - i * STEPS) / STEPS
        x, y, z = course(knots, X, i, t), course(knots, Y, i, t), course(knots, Z, i, t)
        ball = add_ball(picture, shape, (x, y, z), course(knots, RADIUS, i, t))
        for column in range(BACK, AT):
            ball[column] = course(knots, column, i, t)
        ball[AT] = i + t
    points = picture.points
    note(points[IS_BACK - 1], on_body(picture, first, 2.4, 1.0, 0.0))
    note(points[IS_BELLY - 1], on_body(picture, first, 1.5, -1.0, 0.0))
    note(points[IS_BREAST - 1], on_body(picture, first, 2.9, -0.8, 0.6))
    note(points[IS_THROAT - 1], on_body(picture, first, 4.6, -1.0, 0.35))
    note(points[IS_NAPE - 1], on_body(picture, first, 3.6, 1.0, 0.0))
    note(points[IS_CROWN - 1], on_body(picture, first, 5.0, 1.0, -0.35))
    note(points[IS_FOREHEAD - 1], on_body(picture, first, 5.0, 0.75, 0.7))


@helper
def add_wing(picture: Picture, side: float, shade: float) -> None:
    """Add the wing of one side (1 is right) over a shadow of such a shade; write where it is."""
    pose, part = picture.pose, IS_RIGHT_WING if side > 0.0 else IS_LEFT_WING
    scale, spread, right = pose[stand.SCALE], pose[stand.SPREAD], get(pose, stand.RIGHT)
    back = get(pose, stand.BACK)
    down = unit(mixed(-0.88, back, 0.42 * side, right))
    rear = unit(along(mixed(-1.0, get(pose, stand.FRONT), -0.06, back), -0.16 * side, right))
    length = scale * (0.90 + 0.12 * spread)
    c, s = length * pose[stand.LIFT], length * pose[stand.LIFT_UP]
    axis, aside = mixed(c, rear, -s, down), mixed(c, down, s, rear)
    root = place(pose, 0.21, 0.07, 0.17 * side)
    outward = unit(cross(axis, aside))
    if dot(outward, right) * side < 0.0:
        outward = mixed(-1.0, outward, 0.0, outward)
    reach = 0.25 + 0.2 * spread
    if shade > 0.0:
        shadow = add_shape(picture, (0.0, 0.0, 0.0))
        shadow[KIND], shadow[FORM] = SHADOW, spread
        shadow[SOFT], shadow[OPACITY] = 0.05 * scale, shade
        lay_blade(shadow, along(root, -0.03 * scale, UP), axis, aside, reach, 0.11)
    shape = add_shape(picture, get(picture.coat[WING], 0))
    shape[KIND], shape[PART] = WING_BLADE, part
    shape[FORM], shape[PATTERN] = spread, picture.codes[WING_PATTERN]
    put(shape, FACING, outward, 1.0)
    lay_blade(shape, root, axis, aside, reach, 0.11)
    middle = 0.42 + 0.2 * spread
    _, lower = wing_edges(middle, spread)
    note(picture.points[part - 1], along(along(root, middle, axis), 0.35 * lower, aside))


@helper
def add_tail(picture: Picture) -> None:
    """Add the tail, turned so that its shape is seen from the side too; write where it is."""
    pose, form = picture.pose, picture.codes[TAIL_SHAPE]
    front, back, right = get(pose, stand.FRONT), get(pose, stand.BACK), get(pose, stand.RIGHT)
    length = pose[stand.SCALE] * TAIL_LENGTHS[form]
    c, s = length * pose[stand.TAIL], length * pose[stand.TAIL_UP]
    axis = mixed(-c, front, s, back)
    lean = 0.45 * length if right[2] > 0.0 else -0.45 * length
    aside = along(mixed(0.89 * c, back, 0.89 * s, front), lean, right)
    root = place(pose, -0.55, 0.06, 0.0)
    shape = add_shape(picture, get(picture.coat[TAIL], 0))
    shape[KIND], shape[PART], shape[FORM] = TAIL_BLADE, IS_TAIL, form
    put(shape, FACING, unit((-0.2 * front[0], -0.45, 0.85)), 1.0)
    lay_blade(shape, root, axis, aside, 0.72, 0.72)
    note(picture.points[IS_TAIL - 1], along(root, 0.36, axis))


@helper
def add_leg(picture: Picture, side: float, shade: float) -> None:
    """Add the leg of one side (1 is right): a feathered thigh, toes and a shank; write where it is."""
    pose, part = picture.pose, IS_RIGHT_LEG if side > 0.0 else IS_LEFT_LEG
    scale, level, right = pose[stand.SCALE], get(pose, stand.LEVEL), get(pose, stand.RIGHT)
    hip = place(pose, -0.06, -0.14, 0.09 * side)
    x = hip[0] + scale * (0.06 + pose[stand.STRIDE] * side) * level[0]
    foot = (x, pose[stand.FEET] + pose[stand.SLOPE] * (x - pose[stand.CENTRE]), hip[2])
    joint = along(mixed(0.45, hip, 0.55, foot), -0.06 * scale, level)
    thigh = add_shape(picture, scaled(get(picture.coat[BELLY], 0), 0.9 * shade))
    thigh[KIND], thigh[PART] = LIMB, IS_BELLY
    add_ball(picture, thigh, hip, 0.085 * scale)
    add_ball(picture, thigh, mixed(0.12, hip, 0.88, joint), 0.030 * scale)
    colour = scaled(get(picture.coat[LEG], 0), shade)
    for toe in range(5):
        shape = add_shape(picture, colour)
        shape[KIND], shape[PART] = LIMB, part
        add_ball(picture, shape, foot, 0.024 * scale)
        if toe == 4:  # the shank
            add_ball(picture, shape, joint, 0.026 * scale)
            continue
        ahead, spread = (0.115, 0.05 * (toe - 1)) if toe < 3 else (-0.085, 0.0)
        way = mixed(ahead, level, spread, right)
        add_ball(picture, shape, along(foot, 0.7 * scale, way), 0.021 * scale)
        tip = along(along(foot, scale, way), -0.04 * scale, UP)
        add_ball(picture, shape, tip, 0.010 * scale)
    note(picture.points[part - 1], mixed(0.45, joint, 0.55, foot))


@helper
def add_bird(picture: Picture) -> None:
    """Add a whole bird, and write where its parts are."""
    pose = picture.pose
    near = 1.0 if pose[stand.RIGHT + 2] > 0.0 else -1.0
    away, beak_behind = pose[stand.FRONT + 2] < -0.3, pose[stand.HEAD_FRONT + 2] < 0.2
    add_wing(picture, -near, 0.0)
    if not away:
        add_tail(picture)
    add_leg(picture, -near, 0.72)
    add_leg(picture, near, 1.0)
    if picture.codes[CREST] == 1:
        add_crest(picture)
    if beak_behind:
        add_beak(picture)
    add_body(picture)
    if away:
        add_tail(picture)
    add_wing(picture, near, 0.3)
    add_eye(picture, 1.0)
    add_eye(picture, -1.0)
    if not beak_behind:
        add_beak(picture)
