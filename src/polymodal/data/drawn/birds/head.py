"""What is on a bird's head: beak, crest and eyes."""

from polymodal.data.drawn.birds import pose as stand
from polymodal.data.drawn.birds.bird_shapes import (
    EYE_DISC,
    FACING,
    HORN,
    KIND,
    LIMB,
    ORIGIN,
    PART,
    PATTERN,
    UNIT,
    Picture,
    add_ball,
    add_shape,
    bound,
    note,
)
from polymodal.data.drawn.birds.plumage import (
    BEAK,
    BEAK_LENGTH,
    BEAK_SHAPE,
    CROWN,
    EYE,
    IS_BEAK,
    IS_CROWN,
    IS_LEFT_EYE,
    IS_RIGHT_EYE,
)
from polymodal.data.drawn.birds.pose import mixed
from polymodal.data.drawn.kernel.compiling import helper
from polymodal.data.drawn.kernel.vectors import along, get, put, unit


@helper
def beak_course(form: int, t: float) -> tuple[float, float]:
    """How far a beak droops and how thick it is, from its root (t = 0) to its tip (t = 1)."""
    if form == 0:  # a cone
        return 0.01 * t, 0.088 * (1.0 - t)
    if form == 1:  # a needle
        return 0.05 * t * t, 0.042 * (1.0 - 0.8 * t)
    return 0.13 * t * t * t * t * t, 0.070 * ((1.0 - 0.35 * t) if t < 0.7 else 2.5 * (1.0 - t))


@helper
def add_beak(picture: Picture) -> None:
    """Add the beak, and write where its middle is."""
    pose, form = picture.pose, picture.codes[BEAK_SHAPE]
    scale, skull = pose[stand.SCALE], pose[stand.SKULL]
    front, back = get(pose, stand.HEAD_FRONT), get(pose, stand.HEAD_BACK)
    length = 0.34 if picture.codes[BEAK_LENGTH] == 1 else 0.17
    shape = add_shape(picture, get(picture.coat[BEAK], 0))
    shape[KIND], shape[PART], shape[PATTERN] = LIMB, IS_BEAK, HORN
    put(shape, FACING, back, 1.0)
    root = along(get(pose, stand.HEAD), scale * skull, mixed(0.72, front, -0.10, back))
    for k in range(7):
        t = k / 6.0
        droop, thick = beak_course(form, t)
        way = mixed(t * (length + 0.28 * skull), front, -droop, back)
        add_ball(picture, shape, along(root, scale, way), scale * max(thick, 0.008))
    middle = along(root, scale * (0.28 * skull + 0.42 * length), front)
    note(picture.points[IS_BEAK - 1], middle)


@helper
def add_crest(picture: Picture) -> None:
    """Add a crest of three tufts on the crown."""
    pose = picture.pose
    scale, skull = pose[stand.SCALE], pose[stand.SKULL]
    front, back = get(pose, stand.HEAD_FRONT), get(pose, stand.HEAD_BACK)
    for tuft in range(3):
        shape = add_shape(picture, get(picture.coat[CROWN], 0))
        shape[KIND], shape[PART] = LIMB, IS_CROWN
        root = mixed(skull * (0.35 - 0.4 * tuft), front, 0.5 * skull, back)
        way = unit(mixed(1.0, back, -0.35 - 0.45 * tuft, front))
        for k in range(4):
            t = k / 3.0
            tip = along(mixed(1.0, root, t * (0.30 - 0.03 * tuft), way), -0.10 * t * t, front)
            place = along(get(pose, stand.HEAD), scale, tip)
            add_ball(picture, shape, place, scale * (0.062 - 0.050 * t))


@helper
def add_eye(picture: Picture, side: float) -> None:
    """Add the eye of one side (1 is right) where it looks towards the viewer; write where it is."""
    pose, part = picture.pose, IS_RIGHT_EYE if side > 0.0 else IS_LEFT_EYE
    scale, skull = pose[stand.SCALE], pose[stand.SKULL]
    way = mixed(0.52, get(pose, stand.HEAD_FRONT), 0.2, get(pose, stand.HEAD_BACK))
    way = unit(along(way, 0.83 * side, get(pose, stand.HEAD_RIGHT)))
    place = along(get(pose, stand.HEAD), scale * skull, way)
    note(picture.points[part - 1], place)
    if way[2] > 0.12:
        shape = add_shape(picture, get(picture.coat[EYE], 0))
        shape[KIND], shape[PART] = EYE_DISC, part
        put(shape, FACING, way, 1.0)
        shape[ORIGIN], shape[ORIGIN + 1] = place[0], place[1]
        shape[UNIT] = scale * (0.030 + 0.18 * skull)
        bound(shape, place[0], place[1], shape[UNIT])
