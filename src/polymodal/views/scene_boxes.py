"""Scenes: pictures with the boxes of their objects, and captions whose phrases say which they name."""

from collections.abc import Sequence

from polymodal.base.errors import PolymodalError
from polymodal.data.records import Caption, Dataset, Record, Region
from polymodal.views.markup import escape, picture
from polymodal.views.page import Section

Box = tuple[float, float, float, float]

LIT = 12
"""Objects of a scene that light up with their phrases under the pointer; style.css has as many rules."""

COLOURS = ("cyan", "red", "gray", "blue", "yellow", "purple", "brown", "green")
"""Colours that style.css knows; an object of another colour is drawn as gray."""


def scenes_section(
    records: Dataset | Sequence[Record],
    count: int = 8,
    *,
    pixels: int = 320,
    heading: str = "Some of the data",
    note: str = "",
) -> Section:
    """The first `count` records: picture, boxes where the truth is known, and captions."""
    if count < 1:
        raise PolymodalError(f"A section of scenes shows at least one, but was asked for {count}.")
    shown = [_scene(records[place], pixels) for place in range(min(count, len(records)))]
    if not shown:
        return Section(heading, '<p class="empty">There are no records to show.</p>', note)
    return Section(heading, f'<div class="scenes">{"".join(shown)}</div>', note)


def _scene(record: Record, pixels: int) -> str:
    """One record."""
    alt = record.captions[0].text if record.captions else f"Image {record.id}"
    regions = record.regions or ()
    captions = "".join(f"<li>{mark_phrases(caption, regions)}</li>" for caption in record.captions)
    said = f'<ul class="captions">{captions}</ul>' if captions else ""
    height, width = record.image.shape[:2]
    boxes = overlay(regions, width, height) if record.regions is not None else ""
    return (
        f'<article class="scene"><div class="stage">{picture(record.image, alt, pixels=pixels)}{boxes}'
        f'</div><p class="id">{escape(record.id)}</p>{said}</article>'
    )


def overlay(regions: Sequence[Region], width: int, height: int) -> str:
    """The boxes of some regions, in the pixels of their image; the browser scales both alike."""
    boxed = [(k, region, region.box) for k, region in enumerate(regions) if region.box]
    largest = sorted(boxed, key=lambda one: -_area(one[2]))  # small ones above, to be pointed at
    boxes = "".join(_box(k, region, box) for k, region, box in largest)
    corners = place_tags([box for _, _, box in boxed], width, height)
    tags = "".join(_tag(k, region, tag) for (k, region, _), tag in zip(boxed, corners, strict=True))
    return (
        f'<svg class="boxes" viewBox="0 0 {width} {height}" aria-hidden="true">{boxes}{tags}</svg>'
    )


def place_tags(boxes: Sequence[Box], width: int, height: int) -> list[Box]:
    """A place at a corner of each box for its number: inside the picture and clear of the others.

    >>> place_tags([(40, 40, 60, 60), (40, 40, 80, 80)], 100, 100)
    [(40, 34.5, 45.0, 40.0), (75.0, 34.5, 80.0, 40.0)]
    """
    wide, high = width / 20, width / 20 * 1.1
    tags: list[Box] = []
    for x0, y0, x1, y1 in boxes:
        corners = [
            (x, y, x + wide, y + high)
            for y in (y0 - high, y1, y0, y1 - high)
            for x in (x0, x1 - wide)
        ]
        inside = [
            c for c in corners if c[1] >= 0 and c[3] <= height and c[0] >= 0 and c[2] <= width
        ]
        clear = [c for c in inside if not any(_meet(c, other) for other in tags)]
        tags.append((clear or inside or corners)[0])
    return tags


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _box(place: int, region: Region, box: Box) -> str:
    """One object's box; what it is shows under the pointer."""
    x0, y0, x1, y1 = box
    rect = f'x="{x0}" y="{y0}" width="{x1 - x0}" height="{y1 - y0}"'
    name = f"{place + 1}: {region.name}"
    return (
        f'<g class="box b{place % LIT} {tint([region])}"><title>{escape(name)}</title>'
        f'<rect class="halo" {rect}/><rect class="edge" {rect}/></g>'
    )


def _tag(place: int, region: Region, tag: Box) -> str:
    """One object's number."""
    x0, y0, x1, y1 = tag
    size = (y1 - y0) * 0.85
    return (
        f'<g class="tag {tint([region])}">'
        f'<rect x="{x0:g}" y="{y0:g}" width="{x1 - x0:g}" height="{y1 - y0:g}"/>'
        f'<text x="{(x0 + x1) / 2:g}" y="{y0 + size:g}" font-size="{size:g}">{place + 1}</text></g>'
    )


def mark_phrases(caption: Caption, regions: Sequence[Region]) -> str:
    """A caption with each noun phrase in the colour of what it names, and the numbers of its boxes.

    >>> from polymodal.data.records import Phrase
    >>> mark_phrases(Caption("a <cat>", phrases=(Phrase(2, 7, ()),)), ())
    'a &lt;cat&gt;'
    """
    parts, done = [], 0
    for phrase in sorted(caption.phrases, key=lambda phrase: (phrase.start, -phrase.end)):
        named = [k for k in phrase.regions if 0 <= k < len(regions)]
        if not named or not done <= phrase.start < min(phrase.end, len(caption.text)):
            continue
        everything = 1 < len(regions) == len(named)
        numbers = "all" if everything else ", ".join(str(k + 1) for k in named)
        lit = " ".join(f"p{k % LIT}" for k in named)
        parts += [
            escape(caption.text[done : phrase.start]),
            f'<mark class="{tint([regions[k] for k in named])} {lit}">',
            escape(caption.text[phrase.start : phrase.end]),
            f"<sub>{numbers}</sub></mark>",
        ]
        done = phrase.end
    return "".join([*parts, escape(caption.text[done:])])


def tint(regions: Sequence[Region]) -> str:
    """The style of the colour that all of some regions share, or of none."""
    colours = {region.attributes.get("colour", "") for region in regions}
    only = colours.pop() if len(colours) == 1 else ""
    return f"c-{only}" if only in COLOURS else "c-none"
