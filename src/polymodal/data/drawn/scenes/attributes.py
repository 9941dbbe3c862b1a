"""What a thing can be: the words, in the order of their codes, and what they mean in space."""

SIZES = ("small", "large")
COLOURS = ("cyan", "red", "gray", "blue", "yellow", "purple", "brown", "green")
MATERIALS = ("rubber", "metal")
SHAPES = ("sphere", "cylinder", "cube")

KINDS = {"size": SIZES, "colour": COLOURS, "material": MATERIALS, "shape": SHAPES}
"""Every attribute in the order in which it is said: a *small cyan rubber sphere*."""

RELATIONS = ("left", "right", "front", "behind")

RADII = (0.35, 0.7)
"""CLEVR's two sizes: a sphere's radius, a cylinder's radius and half its height."""

CUBE = 0.78
"""Half a cube's side, in radii: a cube then fills about as much of the picture as a sphere."""

BEVEL = 0.2
"""The radius of the rounded edges of cubes and cylinders, in the body's extent."""

RGB = (
    (41, 208, 208),
    (173, 35, 35),
    (87, 87, 87),
    (42, 75, 215),
    (255, 238, 51),
    (129, 38, 192),
    (129, 74, 25),
    (29, 105, 20),
)
"""CLEVR's eight colours, in the order of COLOURS."""
