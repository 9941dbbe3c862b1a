"""Compose pictures from layouts: objects by class and box, with a trained generator."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from polymodal.base.errors import PolymodalError
from polymodal.cli import Device, parse_options

if TYPE_CHECKING:
    from polymodal.data.layout_record import Layout
    from polymodal.data.records import Images
    from polymodal.views.picture_sheet import Row

HELP = """\
Compose pictures from a layout: objects by class and box, by a model of `polymodal train ocgan`.

  polymodal compose RUN layout.json --count 8 --out sheet.png
  polymodal compose RUN layout.json --move 1:0.3,0 --out strip.png
  polymodal compose RUN --layouts 4 --count 6

A layout is a file that you can write by hand; boxes are x0, y0, x1, y1 in sides of the picture, or in pixels with "size": [width, height].

  {"objects": [{"label": "red metal cube", "box": [0.1, 0.5, 0.4, 0.8]},
               {"label": "blue rubber sphere", "box": [0.6, 0.4, 0.9, 0.7]}]}

Without a file, layouts of the run's own test images are composed. `polymodal layout show DATA` shows the layouts and classes of any data.
"""  # noqa: E501 (tyro breaks the lines)

Way = tuple[int, tuple[float, float]]
"""An object, and how far it goes across and down."""


@dataclass(frozen=True, kw_only=True)
class Compose:
    """A layout, and how many pictures of it."""

    run: Annotated[str, Positional, arg(metavar="RUN")]
    """Run directory, or name of a shipped model."""
    about: Annotated[tuple[Path, ...], Positional, arg(metavar="[LAYOUT.json ...]")]
    """Files of layouts; without them, layouts of the run's own data."""
    count: int = 8
    """Number of pictures per layout, each from other noise."""
    move: str | None = None
    """OBJECT:ACROSS,DOWN: one object of the layout, counted from 1, goes so far in sides of the picture, step by step in --count pictures of the same noise."""  # noqa: E501 (tyro breaks the lines)
    layouts: int = 4
    """Without a file: number of layouts."""
    split: str = "test"
    """Without a file: the split."""
    truncation: float = 1.0
    """Scale of the noise: below 1, pictures are more alike and fewer of them fail."""
    seed: int = 0
    """Random seed; the same seed and count give the same pictures."""
    size: int | None = None
    """Side of a picture in pixels, to which it is resized; by default the model's own. On a sheet all are shown alike."""  # noqa: E501 (tyro breaks the lines)
    out: str = "sheet.png"
    """PNG file for one sheet, or a folder, as pictures/, for single pictures."""
    device: Device = "cpu"

    def __post_init__(self) -> None:
        if self.count < 1 or self.layouts < 1:
            raise PolymodalError("--count and --layouts must be 1 or more.")
        if not 0 <= self.truncation <= 1:
            raise PolymodalError(f"--truncation is from 0 to 1, not {self.truncation:g}.")
        if not 0 <= self.seed < 2**63:
            raise PolymodalError(f"--seed must be 0 or more and below 2^63, not {self.seed}.")
        if self.move is not None and len(self.about) != 1:
            raise PolymodalError("--move is for one layout: give its file.")
        if self.size is not None and not 8 <= self.size <= 4096:
            raise PolymodalError(f"--size is from 8 to 4096 pixels, not {self.size}.")


def main(arguments: list[str]) -> None:
    options = parse_options(Compose, "compose", arguments, HELP)
    from polymodal.base.progress import say
    from polymodal.cli.generate import check_out, is_folder, write_each, write_sheet
    from polymodal.data.layout_files import read_layout
    from polymodal.data.layouts import code_of

    way = read_move(options.move) if options.move else None
    asked = [(path.name, read_layout(path)) for path in options.about]
    check_out(options.out, options.count * (len(asked) or options.layouts))
    from polymodal.runs.loading import load_for

    system = load_for("compose", options.run, options.device)
    if not asked:
        from polymodal.runs.run_layouts import run_layouts

        own = run_layouts(system, Path(options.run), options.split, options.layouts)
        asked = list(own.items())
    for name, layout in asked:
        for label in layout.labels:
            code_of(label, system.classes, name)  # which refuses what the model does not know
    how = f"seed {options.seed}, truncation {options.truncation:g}"
    ways = [(name, steps_of(layout, way, options.count)) for name, layout in asked]
    rows = [made(system, name, steps, options) for name, steps in ways]
    if is_folder(options.out):
        write_each(Path(options.out), rows)
        say(f"Pictures 0001.png … and their captions.csv are in {options.out}: {how}.")
    else:
        pairs = zip(ways, rows, strict=True)
        lines = [line for (_, steps), row in pairs for line in lined_up(steps, row)]
        write_sheet(Path(options.out), lines, f"{Path(options.run).resolve().name} · {how}")
        say(f"Wrote {options.out}: {how}.")
    moving = len(options.about) == 1 and not way
    also = ", --move 1:0.2,0 to see an object go elsewhere" if moving else ""
    say(f"Next: --seed {options.seed + 1} for others{also}.")


def read_move(text: str) -> Way:
    """The place of an object and its way, from text that counts from 1.

    >>> read_move("1:0.25,-0.1")
    (0, (0.25, -0.1))
    """
    place, _, way = text.partition(":")
    try:
        across, down = map(float, way.split(","))
        return int(place) - 1, (across, down)
    except ValueError:
        raise PolymodalError(
            "--move takes OBJECT:ACROSS,DOWN, an object counted from 1 and its way in sides of the "
            f"picture, such as 1:0.3,0, not {text!r}."
        ) from None


def steps_of(layout: "Layout", way: Way | None, count: int) -> "list[Layout]":
    """The layouts of a way, or the layout alone."""
    from polymodal.data.layout_moves import moved

    return moved(layout, *way, count) if way else [layout]


def made(system: Any, name: str, steps: "list[Layout]", options: Compose) -> "Row":
    """The pictures of a layout, or one of each step of a way, of the same noise."""
    from polymodal.views.picture_sheet import Row

    count = 1 if options.move else options.count
    pictures = system.compose(steps, count, seed=options.seed, truncation=options.truncation)
    listed = " · ".join(f"{n} {label}" for n, label in enumerate(steps[0].labels, 1))
    return Row(images=resized(pictures, options.size), title=f"{name}: {listed}")


def lined_up(steps: "list[Layout]", pictures: "Row") -> "list[Row]":
    """Pictures beside their layout, or below the layout of each step."""
    import numpy as np

    from polymodal.views.layout_sheet import layout_image
    from polymodal.views.picture_sheet import TILE, Row, tile

    drawn = np.stack([np.asarray(layout_image(step, TILE)) for step in steps])
    if len(steps) > 1:
        return [Row(images=drawn, title=pictures.title), Row(images=pictures.images)]
    tiles = np.stack([np.asarray(tile(picture)) for picture in pictures.images])
    return [Row(images=np.concatenate([drawn, tiles]), title=pictures.title)]


def resized(pictures: "Images", size: int | None) -> "Images":
    """Pictures of this side, or as they are."""
    import numpy as np
    from PIL import Image

    if size is None:
        return pictures
    sides = (size, size)
    return np.stack(
        [
            np.asarray(Image.fromarray(picture).resize(sides, Image.Resampling.BICUBIC))
            for picture in pictures
        ]
    )
