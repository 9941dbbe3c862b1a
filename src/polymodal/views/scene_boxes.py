"""Scenes: pictures with the boxes of their objects, and captions whose phrases say which they name."""

from collections.abc import Sequence

from polymodal.base.errors import PolymodalError
from polymodal.data.records import Caption, Dataset, Record, Scene, Thing
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
    things = record.scene.things if record.scene else ()
    captions = "".join(f"<li>{mark_phrases(caption, things)}</li>" for caption in record.captions)
    said = f'<ul class="captions">{captions}</ul>' if captions else ""
    height, width = record.image.shape[:2]
    boxes = overlay(record.scene, width, height) if record.scene else ""
    return (
        f'<article class="scene"><div class="stage">{picture(record.image, alt, pixels=pixels)}{boxes}'
        f'</div><p class="id">{escape(record.id)}</p>{said}</article>'
    )


def overlay(scene: Scene, width: int, height: int) -> str:
    """The boxes of a scene, in the pixels of its image; the browser scales both alike."""
    largest = sorted(range(len(scene.things)), key=lambda k: -_area(scene.things[k].box))
    boxes = "".join(
        _box(k, scene.things[k]) for k in largest
    )  # the small ones above, to be pointed at
    tags = "".join(
        _tag(k, thing, tag)
        for k, (thing, tag) in enumerate(
            zip(scene.things, place_tags([t.box for t in scene.things], width, height), strict=True)
        )
    )
    return (
        f'<svg class="boxes" viewBox="0 0 {width} {height}" aria-hidden="true">{boxes}{tags}</svg>'
    )


def place_tags(boxes: Sequence[Box], width: int, height: int) -> list[Box]:
    """A place at a corner of each box for its number: inside the picture and clear of the others.

    >>> place_tags([(40, 40, 60, 60), (40, 40, 80, 80)], 100, 100)
    [(40, 34.5, 45.0, 40.0), (75.0, 34.5, 80.0, 40.0)]
    """
    wide, high = width / 20, width / 20 * 1.1
    found: list[Box] = []
    for x0, y0, x1, y1 in boxes:
        corners = [
            (x, y, x + wide, y + high)
            for y in (y0 - high, y1, y0, y1 - high)
            for x in (x0, x1 - wide)
        ]
        inside = [
            c for c in corners if c[1] >= 0 and c[3] <= height and c[0] >= 0 and c[2] <= width
        ]
        clear = [c for c in inside if not any(_meet(c, other) for other in found)]
        found.append((clear or inside or corners)[0])
    return found


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _box(place: int, thing: Thing) -> str:
    """One object's box; what it is shows under the pointer."""
    x0, y0, x1, y1 = thing.box
    rect = f'x="{x0}" y="{y0}" width="{x1 - x0}" height="{y1 - y0}"'
    name = f"{place + 1}: {thing.size} {thing.colour} {thing.material} {thing.shape}"
    return (
        f'<g class="box b{place % LIT} {tint([thing])}"><title>{escape(name)}</title>'
        f'<rect class="halo" {rect}/><rect class="edge" {rect}/></g>'
    )


def _tag(place: int, thing: Thing, tag: Box) -> str:
    """One object's number."""
    x0, y0, x1, y1 = tag
    size = (y1 - y0) * 0.85
    return (
        f'<g class="tag {tint([thing])}">'
        f'<rect x="{x0:g}" y="{y0:g}" width="{x1 - x0:g}" height="{y1 - y0:g}"/>'
        f'<text x="{(x0 + x1) / 2:g}" y="{y0 + size:g}" font-size="{size:g}">{place + 1}</text></g>'
    )


def mark_phrases(caption: Caption, things: Sequence[Thing]) -> str:
    """A caption with each noun phrase in the colour of what it names, and the numbers of its boxes.

    >>> from polymodal.data.records import Phrase
    >>> mark_phrases(Caption("a <cat>", phrases=(Phrase(2, 7, ()),)), ())
    'a &lt;cat&gt;'
    """
    parts, done = [], 0
    for phrase in sorted(caption.phrases, key=lambda phrase: (phrase.start, -phrase.end)):
        named = [k for k in phrase.objects if 0 <= k < len(things)]
        if not named or not done <= phrase.start < min(phrase.end, len(caption.text)):
            continue
        everything = 1 < len(things) == len(named)
        numbers = "all" if everything else ", ".join(str(k + 1) for k in named)
        lit = " ".join(f"p{k % LIT}" for k in named)
        parts += [
            escape(caption.text[done : phrase.start]),
            f'<mark class="{tint([things[k] for k in named])} {lit}">',
            escape(caption.text[phrase.start : phrase.end]),
            f"<sub>{numbers}</sub></mark>",
        ]
        done = phrase.end
    return "".join([*parts, escape(caption.text[done:])])


def tint(things: Sequence[Thing]) -> str:
    """The style of the colour that all of some things share, or of none."""
    colours = {thing.colour for thing in things}
    only = colours.pop() if len(colours) == 1 else ""
    return f"c-{only}" if only in COLOURS else "c-none"
