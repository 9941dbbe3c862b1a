"""A contact sheet: some images of a dataset with their boxes, and their captions beneath."""

import io
from pathlib import Path

from PIL import Image, ImageDraw, ImageOps

from polymodal.base import files
from polymodal.base.errors import PolymodalError
from polymodal.data.drawn.scenes.attributes import COLOURS, RGB
from polymodal.data.records import Dataset, Record
from polymodal.views.lettering import FAINT, INK, PAPER, font, wrap
from polymodal.views.picture_sheet import beside, stacked

TILE, GUTTER, MARGIN = 336, 28, 36
SMALL, PLAIN = 11, 13
LEAD = 18
NO_COLOUR = (87, 87, 87)
"""Of a box whose object's colour is not known."""


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
    cells = [_cell(dataset[index], boxes) for index in range(min(count, len(dataset)))]
    columns = min(columns, len(cells))
    step = TILE + GUTTER
    rows = [
        beside(cells[start : start + columns], columns * step - GUTTER, step)
        for start in range(0, len(cells), columns)
    ]
    sheet = ImageOps.expand(stacked(rows, GUTTER), MARGIN, PAPER)
    content = io.BytesIO()
    sheet.save(content, "PNG")
    files.write_bytes(Path(path), content.getvalue())


def _cell(record: Record, boxes: bool) -> Image.Image:
    """One image with what is known of it."""
    picture = _picture(record, boxes)
    lines = [(record.id, FAINT, 0)]
    if record.regions is not None and boxes:
        key = " · ".join(f"{k} {region.label}" for k, region in enumerate(record.regions))
        lines = [(line, FAINT, 0) for line in wrap(f"{record.id}:  {key}", TILE, SMALL)]
    heading = len(lines)
    for caption in record.captions:
        wrapped = wrap(caption.text, TILE - 14, PLAIN)
        lines += [(line, INK, 14 if place else 0) for place, line in enumerate(wrapped)]
    height = picture.height + 10 + LEAD * len(lines)
    cell = Image.new("RGB", (TILE, height), PAPER)
    cell.paste(picture, (0, 0))
    pen = ImageDraw.Draw(cell)
    for place, (line, colour, indent) in enumerate(lines):
        letters = font(SMALL if place < heading else PLAIN)
        pen.text((indent, picture.height + 8 + LEAD * place), line, fill=colour, font=letters)
    return cell


def _picture(record: Record, boxes: bool) -> Image.Image:
    """The image as wide as a tile, with a thin labelled box about each region."""
    image = Image.fromarray(record.image)
    scale = TILE / image.width
    image = image.resize((TILE, max(round(image.height * scale), 1)), Image.Resampling.LANCZOS)
    pen = ImageDraw.Draw(image)
    for place, region in enumerate(record.regions or () if boxes else ()):
        if region.box is None:
            continue
        x0, y0, x1, y1 = (round(edge * scale) for edge in region.box)
        known = region.attributes.get("colour")
        colour = _bright(RGB[COLOURS.index(known)] if known in COLOURS else NO_COLOUR)
        pen.rectangle((x0 - 2, y0 - 2, x1 + 1, y1 + 1), outline=colour, width=1)
        pen.rectangle((x0 - 2, y0 - 15, x0 + 7, y0 - 2), fill=colour)
        pen.text((x0 + 3, y0 - 8), str(place), fill=INK, font=font(SMALL), anchor="mm")
    return image


def _bright(rgb: tuple[int, int, int]) -> tuple[int, int, int]:
    """A much lighter kin of a colour, to be seen on the thing itself and on gray."""
    return (rgb[0] // 3 + 168, rgb[1] // 3 + 168, rgb[2] // 3 + 168)
