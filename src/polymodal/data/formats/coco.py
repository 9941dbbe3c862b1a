"""COCO captions: captions_train2017.json and its like, with "images" and "annotations"."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from polymodal.data.formats.archive import Source, read_json
from polymodal.data.formats.entry import Entry, Flaw, lack


def read(source: Source, name: str) -> Iterator[Entry | Flaw]:
    """One entry an image; the file's name says the split, with or without a year after it."""
    path = source.path / name
    content = read_json(source, name, "images", "annotations")
    images: list[tuple[str, Any]] = []
    for position, image in enumerate(content["images"]):
        reason = lack(image, id=(int, str), file_name=str)
        if reason is None:
            images.append((f"{path}: images[{position}] (id {image['id']})", image))
        else:
            where = f"{path}: images[{position}]"
            yield Flaw("malformed entry", where, f"{reason} Mend the entry.")
    captions: dict[int | str, list[str]] = defaultdict(list)
    known = {image["id"] for _, image in images}
    for position, annotation in enumerate(content["annotations"]):
        where = f"{path}: annotations[{position}]"
        reason = lack(annotation, image_id=(int, str), caption=str)
        if reason is not None:
            yield Flaw("malformed entry", where, f"{reason} Mend the entry.")
        elif annotation["image_id"] not in known:
            yield Flaw(
                "caption without image",
                where,
                f"no image has the id {annotation['image_id']}. Add the image, or remove this.",
            )
        else:
            captions[annotation["image_id"]].append(annotation["caption"])
    named = re.fullmatch(r"captions_(.*?)(\d{4})?\.json", name.rpartition("/")[2])
    part, year = named.groups(default="") if named else ("", "")
    split = part if part in ("train", "val", "test") else None
    home = f"{part}{year}"
    for where, image in images:
        yield Entry(
            image=image["file_name"],
            captions=tuple(captions[image["id"]]),
            where=where,
            id=str(image["id"]),
            split=split,
            places=("", "images", home, f"images/{home}"),
        )
