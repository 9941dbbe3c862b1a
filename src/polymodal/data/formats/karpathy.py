"""Karpathy's dataset_*.json: COCO, Flickr8k and Flickr30k with the splits that papers report on."""

from collections.abc import Iterator
from typing import Any

from polymodal.data.formats.archive import Source, read_json
from polymodal.data.formats.entry import Entry, Flaw, lack


def read(source: Source, name: str) -> Iterator[Entry | Flaw]:
    """One entry an image; `restval` counts as train; the id is `cocoid`, or else `imgid`."""
    for position, image in enumerate(read_json(source, name, "images")["images"]):
        where = f"{source.path / name}: images[{position}]"
        reason = _wrong(image)
        if reason is not None:
            yield Flaw("malformed entry", where, f"{reason} Mend the entry.")
            continue
        number = image.get("cocoid", image.get("imgid"))
        home = image.get("filepath", "").strip("/")
        yield Entry(
            image=image["filename"],
            captions=tuple(sentence["raw"] for sentence in image["sentences"]),
            where=where if number is None else f"{where} (id {number})",
            id=None if number is None else str(number),
            split="train" if image["split"] == "restval" else image["split"],
            places=(home, "", "images", f"images/{home}") if home else ("", "images"),
        )


def _wrong(image: Any) -> str | None:
    reason = lack(image, filename=str, split=str, sentences=list)
    if reason is None and "filepath" in image:
        reason = lack(image, filepath=str)
    for sentence in image["sentences"] if reason is None else ():
        reason = reason or lack(sentence, raw=str)
    return reason
