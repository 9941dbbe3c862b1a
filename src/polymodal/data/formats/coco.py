"""COCO's files, with "images" and "annotations": captions_train2017.json and its like."""

import re
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from polymodal.data.formats.archive import Source, read_json
from polymodal.data.formats.entry import Entry, Flaw, lack


class JsonObject(NamedTuple):
    """An object of a file's lists, and its place."""

    where: str
    values: dict[str, Any]


def read(source: Source, name: str) -> Iterator[Entry | Flaw]:
    """One entry an image; the file's name says the split, with or without a year after it."""
    content = read_json(source, name, "images", "annotations")
    path = str(source.path / name)
    images = yield from images_of(content, path)
    captions = yield from annotations_of(content, path, images, "caption", caption=str)
    for image in images:
        yield entry(name, image, captions[image.values["id"]])


def entry(
    name: str, image: JsonObject, captions: Sequence[JsonObject], wordless: bool = False
) -> Entry:
    """What the file of this name says of an image."""
    named = re.fullmatch(r"(?:captions|instances)_(.*?)(\d{4})?\.json", name.rpartition("/")[2])
    part, year = named.groups(default="") if named else ("", "")
    home = f"{part}{year}"
    return Entry(
        image=image.values["file_name"],
        captions=tuple(caption.values["caption"] for caption in captions),
        where=image.where,
        id=str(image.values["id"]),
        split=part if part in ("train", "val", "test") else None,
        places=("", "images", home, f"images/{home}"),
        wordless=wordless,
    )


def images_of(
    content: dict[str, Any], path: str, **more: type
) -> Generator[Flaw, None, list[JsonObject]]:
    """The images of a file, and a flaw for each that lacks a key."""
    images = []
    for position, image in enumerate(content["images"]):
        where = f"{path}: images[{position}]"
        reason = lack(image, id=(int, str), file_name=str, **more)
        if reason is None:
            images.append(JsonObject(f"{where} (id {image['id']})", image))
        else:
            yield Flaw("malformed entry", where, f"{reason} Mend the entry.")
    return images


def annotations_of(
    content: dict[str, Any],
    path: str,
    images: Iterable[JsonObject],
    what: str,
    **kinds: type | tuple[type, ...],
) -> Generator[Flaw, None, dict[int | str, list[JsonObject]]]:
    """The annotations of each image, and a flaw for each that lacks a key or an image."""
    by_image: dict[int | str, list[JsonObject]] = defaultdict(list)
    known = {image.values["id"] for image in images}
    for position, annotation in enumerate(content["annotations"]):
        where = f"{path}: annotations[{position}]"
        reason = lack(annotation, image_id=(int, str), **kinds)
        if reason is not None:
            yield Flaw("malformed entry", where, f"{reason} Mend the entry.")
        elif annotation["image_id"] not in known:
            reason = f"no image has the id {annotation['image_id']}"
            yield Flaw(f"{what} without image", where, f"{reason}. Add the image, or remove this.")
        else:
            by_image[annotation["image_id"]].append(JsonObject(where, annotation))
    return by_image
