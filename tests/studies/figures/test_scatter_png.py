"""Scatter plots: every dot and name is drawn, and the same dots give the same bytes."""

import numpy as np
from PIL import Image

from polymodal.studies.figures.scatter_png import Cloud, Dot, crowded, scatter

DOTS = [
    Dot(name="FC", kind="no local loss", x=0.8, y=30.0),
    Dot(name="FC", kind="AC", x=0.6, y=35.0),
    Dot(name="DIM", kind="LC", x=0.7, y=20.0),
]


def drawn(path, dots, panels=1):
    clouds = [Cloud(title=f"block {n}", note="r = 0.5", dots=dots) for n in range(panels)]
    scatter(clouds, x="TRE ratio", y="accuracy", out=path)
    return np.asarray(Image.open(path).convert("RGB")).astype(int)


def test_the_same_dots_give_the_same_picture(tmp_path):
    drawn(tmp_path / "a.png", DOTS)
    drawn(tmp_path / "b.png", DOTS)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_each_kind_has_its_colour(tmp_path):
    """Blue squares are drawn for the second kind alone, orange triangles for the third."""
    both, none = drawn(tmp_path / "a.png", DOTS), drawn(tmp_path / "b.png", DOTS[:1])
    blue, orange = (0x1F, 0x5F, 0xA8), (0xB4, 0x54, 0x1A)
    for colour in (blue, orange):
        assert (both == colour).all(-1).sum() > 20
        assert not (none == colour).all(-1).any()


def test_two_panels_stand_side_by_side(tmp_path):
    found = drawn(tmp_path / "a.png", DOTS, panels=2)
    blue = np.argwhere((found == (0x1F, 0x5F, 0xA8)).all(-1))[:, 1]
    assert blue.min() < found.shape[1] / 2 < blue.max()


def test_of_two_names_at_one_place_the_lower_is_written_below():
    corners = [Dot(name="", kind="", x=x, y=x) for x in (0.0, 100.0)]
    upper, lower, far = (
        Dot(name="FC", kind="", x=x, y=y) for x, y in ((50.0, 51.0), (53.0, 50.0), (70.0, 50.5))
    )
    every = [*corners, upper, lower, far]
    assert [crowded(dot, every) for dot in every] == [False, False, False, True, False]
