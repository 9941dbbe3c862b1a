"""Visual Genome as sg2im reads it: objects.json, relationships.json, image_data.json, both lists of aliases,
and vg_splits.json, which says the split of each image.

Names that are rare in the training images are no classes, small objects and small images are left out,
and then images with too few or too many objects or relationships. Of the relationships no more is used.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from polymodal.base.errors import PolymodalError
from polymodal.data.formats.archive import Source, find, read_json, read_parsed, read_text
from polymodal.data.formats.entry import Entry, Flaw, lack
from polymodal.data.formats.located import Located, clipped, wrong
from polymodal.data.records import Region

INSTANCES, RELATIONSHIPS = 2000, 500
"""How often a name of objects, and a predicate, must occur in the training images."""

IMAGE_SIDE, OBJECT_SIDE = 200, 32
"""Pixels of the shorter side of an image, and of both sides of an object, at least."""

MOST = 30
"""Objects of an image, and relationships, at most."""
FEWEST_OBJECTS = 3
"""Of relationships there must be one."""

FILES = (
    *("objects.json", "relationships.json", "image_data.json"),
    *("object_alias.txt", "relationship_alias.txt", "vg_splits.json"),
)

Row = dict[str, Any]
Rows = dict[int, tuple[str, Row]]
"""What a file says of each image, and where."""


@dataclass(frozen=True, slots=True)
class Thing:
    """An object of an image: its place in the image's list, and what the file says of it."""

    position: int
    id: int
    names: tuple[str, ...]
    box: tuple[float, float, float, float]

    @property
    def large(self) -> bool:
        """Whether it is large enough; one without a side is no small object but a flaw, told later."""
        x0, y0, x1, y1 = self.box
        return not (0 < x1 - x0 < OBJECT_SIDE or 0 < y1 - y0 < OBJECT_SIDE)


def read(
    source: Source, instances: int = INSTANCES, relationships: int = RELATIONSHIPS
) -> Iterator[Located | Flaw]:
    """One image after another, split by split.

    Args:
        source: where the files are.
        instances: how often a name must occur in training images.
        relationships: how often a predicate must occur there.
    """
    missing = [name for name in FILES if find(source, name) is None]
    if missing:
        raise PolymodalError(
            f"{source.path}: there is no {missing[0]}. Expected the files that sg2im reads: "
            f"{', '.join(FILES)}."
        )
    images = yield from _rows(source, "image_data.json", width=int, height=int, url=str)
    named = yield from _rows(source, "objects.json", objects=list)
    splits = yield from _splits(source, images, named)
    whole = yield from _things(named, splits, _aliases(source, "object_alias.txt"))
    train = splits["train"]
    names = _common((n for id in train for one in whole[id] for n in set(one.names)), instances)
    things = {id: [one for one in some if one.large] for id, some in whole.items()}
    things = {id: list(_called(some, names)) for id, some in things.items()}
    linked = yield from _rows(source, "relationships.json", relationships=list)
    held = yield from _held(linked, splits, things, _aliases(source, "relationship_alias.txt"))
    common = _common((name for id in train for name in held[id]), relationships)
    for split, ids in splits.items():
        for id in ids:
            count = sum(name in common for name in held[id])
            if FEWEST_OBJECTS <= len(things[id]) <= MOST and 1 <= count <= MOST:
                yield from _located(split, images[id], named[id][0], things[id])


def _rows(
    source: Source, name: str, **kinds: type | tuple[type, ...]
) -> Generator[Flaw, None, Rows]:
    """A file that is a list with an object for each image."""
    content, path = read_parsed(source, name), source.path / name
    if not isinstance(content, list):
        raise PolymodalError(
            f"{path}: expected a list with an object for each image, found {type(content).__name__}. Is "
            "it Visual Genome's?"
        )
    rows: Rows = {}
    for position, row in enumerate(content):
        where = f"{path}: [{position}]"
        reason = lack(row, image_id=int, **kinds)
        if reason is None:
            rows[row["image_id"]] = where, row
        else:
            yield Flaw("malformed entry", where, f"{reason} Mend the entry.")
    return rows


def _splits(
    source: Source, images: Rows, named: Rows
) -> Generator[Flaw, None, dict[str, list[int]]]:
    """The images of each split that are known and large enough."""
    content = read_json(source, "vg_splits.json", "train")
    kept: dict[str, list[int]] = {}
    for split, ids in content.items():
        where = f"{source.path / 'vg_splits.json'}: {split}"
        if not isinstance(ids, list) or not all(type(id) is int for id in ids):
            raise PolymodalError(f"{where}: expected a list of the numbers of images. Mend it.")
        kept[split] = []
        for id in ids:
            if id not in images or id not in named:
                file = "image_data.json" if id not in images else "objects.json"
                reason = f"the image {id} is not in {file}. Add it there, or remove it here."
                yield Flaw("missing annotation", where, reason)
            elif min(images[id][1]["width"], images[id][1]["height"]) >= IMAGE_SIDE:
                kept[split].append(id)
    return kept


def _aliases(source: Source, name: str) -> dict[str, str]:
    """What to call each name: the first of its line."""
    lines = [line.split(",") for line in read_text(source, name).splitlines() if line.strip()]
    return {word.strip(): line[0].strip() for line in lines for word in line}


def _common(names: Iterable[str], least: int) -> set[str]:
    """The names that occur so often."""
    return {name for name, count in Counter(names).items() if count >= least}


def _things(
    named: Rows, splits: Mapping[str, Sequence[int]], aliases: Mapping[str, str]
) -> Generator[Flaw, None, dict[int, list[Thing]]]:
    """The objects of each image that are whole, called as their aliases say."""
    number = (int, float)
    found: dict[int, list[Thing]] = {}
    for id in (id for ids in splits.values() for id in ids):
        where, row = named[id]
        found[id] = []
        for position, one in enumerate(row["objects"]):
            reason = lack(one, object_id=int, names=list, x=number, y=number, w=number, h=number)
            if reason is None and not all(isinstance(name, str) for name in one["names"]):
                reason = "'names' should be a list of texts."
            if reason is not None:
                place = f"{where}.objects[{position}]"
                yield Flaw("malformed entry", place, f"{reason} Mend the entry.")
                continue
            box = one["x"], one["y"], one["x"] + one["w"], one["y"] + one["h"]
            names = tuple(aliases.get(name, name) for name in one["names"])
            found[id].append(Thing(position, one["object_id"], names, box))
    return found


def _called(things: Iterable[Thing], names: set[str]) -> Iterator[Thing]:
    """Objects that have a class: the first of their names that is one."""
    for thing in things:
        name = next((name for name in thing.names if name in names), None)
        if name is not None:
            yield replace(thing, names=(name,))


def _held(
    linked: Rows,
    splits: Mapping[str, Sequence[int]],
    things: Mapping[int, Iterable[Thing]],
    aliases: Mapping[str, str],
) -> Generator[Flaw, None, dict[int, list[str]]]:
    """The predicates of each image whose subject and object are both kept.

    As sg2im has it, those of training images alone are brought to lower case and called as their aliases
    say: other images are found with the predicates as they are written.
    """
    found: dict[int, list[str]] = {}
    for split, ids in splits.items():
        for id in ids:
            known, found[id] = {thing.id for thing in things[id]}, []
            where, row = linked.get(id, ("", {"relationships": ()}))
            for position, one in enumerate(row["relationships"]):
                reason = lack(one, predicate=str, subject=dict, object=dict)
                reason = reason or lack(one["subject"], object_id=int)
                reason = reason or lack(one["object"], object_id=int)
                if reason is not None:
                    place = f"{where}.relationships[{position}]"
                    yield Flaw("malformed entry", place, f"{reason} Mend the entry.")
                elif one["subject"]["object_id"] in known and one["object"]["object_id"] in known:
                    name = one["predicate"]
                    plain = name.lower().strip()
                    found[id].append(aliases.get(plain, plain) if split == "train" else name)
    return found


def _located(
    split: str, image: tuple[str, Row], objects: str, things: Iterable[Thing]
) -> Iterator[Located | Flaw]:
    """An image with its regions, and a flaw for each box that is not in it."""
    where, row = image
    width, height = row["width"], row["height"]
    regions = []
    for thing in things:
        flaw = wrong(thing.box, width, height)
        if flaw is None:
            regions.append(Region(thing.names[0], clipped(thing.box, width, height)))
        else:
            yield Flaw(flaw[0], f"{objects}.objects[{thing.position}]", flaw[1])
    home, _, file = row["url"].rpartition("/")
    home = home.rpartition("/")[2]
    entry = Entry(
        image=file,
        captions=(),
        where=f"{where} (image {row['image_id']})",
        id=str(row["image_id"]),
        split=split,
        places=(home, f"images/{home}", "", "images"),
        wordless=True,
    )
    yield Located(entry, (), tuple(regions), width, height)
