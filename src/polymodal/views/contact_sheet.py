"""A contact sheet: some images of a dataset with their boxes, and their captions beneath.

A phrase is underlined in the colour of the boxes that it names, in gray where they have several.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from polymodal.base import files
from polymodal.base.errors import PolymodalError
from polymodal.data.drawn.scenes.attributes import COLOURS, RGB
from polymodal.data.records import Caption, Dataset, Record
from polymodal.views.lettering import FAINT, INK, PAPER, font, wrap
from polymodal.views.picture_sheet import beside, sheet_of

TILE, GUTTER, MARGIN = 336, 28, 36
SMALL, PLAIN = 11, 13
LEAD = 18
INDENT = 14
Colour = tuple[int, int, int]
PALETTE: tuple[Colour, ...] = (
    *((240, 228, 66), (86, 180, 233), (230, 159, 0), (204, 121, 167)),
    *((0, 190, 140), (240, 100, 60), (150, 130, 240), (190, 220, 120)),
)
"""Of boxes whose objects' own colours are not known."""


def contact_sheet(
    dataset: Dataset, path: Path, count: int = 12, columns: int = 4, boxes: bool = True
) -> None:
    """Write a PNG of the first `count` records, `columns` in a row."""
    if count < 1 or columns < 1:
        raise PolymodalError(
            f"A contact sheet has at least one image and one column, but was asked for {count} "
            f"images in {columns} columns."
        )
    if not len(dataset):
        raise PolymodalError("There is nothing to show: the dataset is empty.")
    targets: Any = dataset.columns.get("targets")
    classes = getattr(targets, "classes", ())
    cells = [_cell(dataset[k], boxes, classes) for k in range(min(count, len(dataset)))]
    columns = min(columns, len(cells))
    step = TILE + GUTTER
    rows = [
        beside(cells[start : start + columns], columns * step - GUTTER, step)
        for start in range(0, len(cells), columns)
    ]
    files.write_bytes(Path(path), sheet_of(rows, gap=GUTTER, margin=MARGIN))


def _cell(record: Record, boxes: bool, classes: Sequence[str]) -> Image.Image:
    """One image with what is known of it."""
    colours = _colours(record) if boxes else []
    picture = _picture(record, colours)
    lines = [(record.id, FAINT, 0)]
    if record.regions is not None and boxes:
        key = " · ".join(f"{k} {region.label}" for k, region in enumerate(record.regions))
        lines = [(line, FAINT, 0) for line in wrap(f"{record.id}:  {key}", TILE, SMALL)]
    marks: list[tuple[int, float, float, Colour]] = []
    lines += [(line, FAINT, 0) for line in wrap(_true_of(record, classes), TILE, SMALL) if line]
    heading = len(lines)
    texts = (*record.captions, *([Caption(record["text"])] if record.values.get("text") else ()))
    for caption in texts:
        wrapped = wrap(caption.text, TILE - INDENT, PLAIN)
        for row, x0, x1, colour in _marks(caption, wrapped, colours):
            marks.append((len(lines) + row, x0, x1, colour))
        lines += [(line, INK, INDENT if place else 0) for place, line in enumerate(wrapped)]
    height = picture.height + 10 + LEAD * len(lines)
    cell = Image.new("RGB", (TILE, height), PAPER)
    cell.paste(picture, (0, 0))
    pen = ImageDraw.Draw(cell)
    for place, (line, colour, indent) in enumerate(lines):
        letters = font(SMALL if place < heading else PLAIN)
        pen.text((indent, picture.height + 8 + LEAD * place), line, fill=colour, font=letters)
    for place, x0, x1, colour in marks:
        y = picture.height + 8 + LEAD * place + PLAIN + 3
        pen.line((x0, y, x1, y), fill=colour, width=2)
    return cell


def _true_of(record: Record, classes: Sequence[str]) -> str:
    """Which of several classes are true of an item, by name."""
    if not classes or "targets" not in record:
        return ""
    there = [name for name, true in zip(classes, record["targets"], strict=True) if true > 0]
    return ", ".join(there) or f"none of {len(classes)} findings"


def _colours(record: Record) -> list[Colour]:
    """A colour for each region: its object's own, else one for all that the same phrase names."""
    regions = record.regions or ()
    named = [phrase.regions for caption in record.captions for phrase in caption.phrases]
    groups: list[object] = [
        next((some for some in named if k in some), region.label)
        for k, region in enumerate(regions)
    ]
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    return [
        _bright(RGB[COLOURS.index(known)])
        if (known := region.attributes.get("colour")) in COLOURS
        else PALETTE[numbers[group] % len(PALETTE)]
        for region, group in zip(regions, groups, strict=True)
    ]


def _marks(
    caption: Caption, wrapped: Sequence[str], colours: Sequence[Colour]
) -> Iterator[tuple[int, float, float, Colour]]:
    """A line, its ends and the colour to underline each phrase with, in the lines of its caption."""
    letters, start = font(PLAIN), 0
    for row, line in enumerate(wrapped):
        for phrase in caption.phrases:
            first, last = max(phrase.start - start, 0), min(phrase.end - start, len(line))
            if first < last and phrase.regions and colours:
                indent = INDENT if row else 0
                x0, x1 = (indent + letters.getlength(line[:place]) for place in (first, last))
                shared = {colours[k] for k in phrase.regions}
                yield row, x0, x1, shared.pop() if len(shared) == 1 else FAINT
        start += len(line) + 1  # the space at which it was broken


def _picture(record: Record, colours: Sequence[Colour]) -> Image.Image:
    """The image as wide as a tile, with a thin labelled box about each region."""
    image = Image.fromarray(record.image)
    scale = TILE / image.width
    image = image.resize((TILE, max(round(image.height * scale), 1)), Image.Resampling.LANCZOS)
    pen = ImageDraw.Draw(image)
    for place, (region, colour) in enumerate(zip(record.regions or (), colours, strict=False)):
        if region.box is None:
            continue
        x0, y0, x1, y1 = (round(edge * scale) for edge in region.box)
        pen.rectangle((x0 - 2, y0 - 2, x1 + 1, y1 + 1), outline=colour, width=1)
        pen.rectangle((x0 - 2, y0 - 15, x0 + 7, y0 - 2), fill=colour)
        pen.text((x0 + 3, y0 - 8), str(place), fill=INK, font=font(SMALL), anchor="mm")
    return image


def _bright(rgb: Colour) -> Colour:
    """A much lighter kin of a colour, to be seen on the thing itself and on gray."""
    return (rgb[0] // 3 + 168, rgb[1] // 3 + 168, rgb[2] // 3 + 168)
