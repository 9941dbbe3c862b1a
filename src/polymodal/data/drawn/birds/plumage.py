"""What a bird can look like: its parts, the groups of their attributes, and the colours of the words."""

PARTS = (
    "back",
    "beak",
    "belly",
    "breast",
    "crown",
    "forehead",
    "left eye",
    "left leg",
    "left wing",
    "nape",
    "right eye",
    "right leg",
    "right wing",
    "tail",
    "throat",
)
"""The parts that CUB-200-2011 marks, in its order."""

(
    IS_BACK,
    IS_BEAK,
    IS_BELLY,
    IS_BREAST,
    IS_CROWN,
    IS_FOREHEAD,
    IS_LEFT_EYE,
    IS_LEFT_LEG,
    IS_LEFT_WING,
    IS_NAPE,
    IS_RIGHT_EYE,
    IS_RIGHT_LEG,
    IS_RIGHT_WING,
    IS_TAIL,
    IS_THROAT,
) = range(1, 16)
"""The number of each part in a mask: 1 more than its place, as 0 is what is no part."""

GROUPS = {
    "size": ("small", "medium", "large"),
    "crest": ("smooth", "crested"),
    "face": ("plain", "masked", "browed"),
    "beak shape": ("cone", "needle", "hooked"),
    "beak length": ("short", "long"),
    "beak colour": ("black", "orange", "yellow"),
    "eye colour": ("black", "red", "yellow"),
    "crown colour": ("black", "white", "red", "yellow", "blue", "brown"),
    "throat colour": ("black", "white", "red", "yellow"),
    "breast colour": ("white", "grey", "yellow", "orange", "red"),
    "breast pattern": ("solid", "spotted", "striped"),
    "belly colour": ("white", "grey", "yellow", "buff"),
    "back colour": ("black", "brown", "grey", "olive", "blue"),
    "wing colour": ("black", "brown", "grey", "green", "blue"),
    "wing pattern": ("solid", "spotted", "barred"),
    "tail shape": ("forked", "fan", "pointed"),
    "tail colour": ("black", "brown", "red", "blue"),
    "leg colour": ("black", "orange", "pink"),
}
"""Every attribute by its group: a bird shows one value of each. Crest and forehead have the crown's
colour, the nape has the back's."""

(
    SIZE,
    CREST,
    FACE,
    BEAK_SHAPE,
    BEAK_LENGTH,
    BEAK,
    EYE,
    CROWN,
    THROAT,
    BREAST,
    BREAST_PATTERN,
    BELLY,
    BACK,
    WING,
    WING_PATTERN,
    TAIL_SHAPE,
    TAIL,
    LEG,
) = range(len(GROUPS))
"""The place of each group among a bird's codes; a part alone is the group of its colour."""

ATTRIBUTES = tuple(f"{group}: {value}" for group, values in GROUPS.items() for value in values)
"""The names of the attributes, in the order of the columns of a class's attributes."""

RGB = {
    "black": (40, 38, 44),
    "white": (240, 236, 226),
    "grey": (142, 148, 158),
    "brown": (126, 86, 56),
    "buff": (222, 184, 136),
    "red": (196, 46, 40),
    "orange": (236, 128, 38),
    "pink": (230, 150, 146),
    "yellow": (246, 202, 52),
    "olive": (134, 140, 64),
    "green": (48, 132, 88),
    "blue": (50, 104, 190),
}
"""The colours of plumage, beaks, legs and eyes."""
