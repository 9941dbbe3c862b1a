"""COCO instances: the boxes of instances_train2017.json and its like, and captions where there are some."""

from collections.abc import Generator, Iterator
from typing import Any

from polymodal.base.errors import PolymodalError
from polymodal.data.formats.archive import Source, find, read_json
from polymodal.data.formats.coco import JsonObject, annotations_of, entry, images_of
from polymodal.data.formats.entry import Flaw, lack
from polymodal.data.formats.located import Located, clipped, wrong
from polymodal.data.records import Caption, Region

INSTANCES = "instances_"


def read(source: Source, captioned: bool = False) -> Iterator[Located | Flaw]:
    """One image after another, of every instances_*.json, captioned by the captions_*.json beside it.

    Args:
        source: where the files are.
        captioned: leave out images without a caption.
    """
    names = [n for home in ("", "annotations/") for n in source.glob(f"{home}{INSTANCES}*.json")]
    if not names:
        raise PolymodalError(
            f"{source.path}: there is no {INSTANCES}*.json. Give COCO's folder, or a .zip of it, with "
            f"annotations/{INSTANCES}train2017.json or the like and the images."
        )
    for name in names:
        for one in _file(source, name):
            if isinstance(one, Flaw) or one.captions or not captioned:
                yield one


def _file(source: Source, name: str) -> Iterator[Located | Flaw]:
    """The images of one file."""
    path = str(source.path / name)
    content = read_json(source, name, "images", "annotations", "categories")
    images = yield from images_of(content, path, width=int, height=int)
    boxes = yield from annotations_of(content, path, images, "box", category_id=int, bbox=list)
    captions: dict[int | str, list[JsonObject]] = {}
    beside = find(source, name.replace(INSTANCES, "captions_"))
    if beside is not None:
        said = read_json(source, beside, "annotations")
        where = str(source.path / beside)
        captions = yield from annotations_of(said, where, images, "caption", caption=str)
    labels = yield from _labels(content, path)
    for image in images:
        width, height = image.values["width"], image.values["height"]
        if min(width, height) < 1:
            reason = f"expected the image's size in pixels, found {width}×{height}. Mend the entry."
            yield Flaw("malformed entry", image.where, reason)
            continue
        regions = []
        for box in boxes.pop(image.values["id"], ()):
            region = _region(box.values, labels, width, height)
            if isinstance(region, Region):
                regions.append(region)
            else:
                yield Flaw(region[0], box.where, region[1])
        item = entry(name, image, captions.get(image.values["id"], ()), wordless=True)
        yield Located(item, tuple(map(Caption, item.captions)), tuple(regions), width, height)


def _labels(content: dict[str, Any], path: str) -> Generator[Flaw, None, dict[int, str]]:
    """The name of each category."""
    labels = {}
    for position, category in enumerate(content["categories"]):
        reason = lack(category, id=int, name=str)
        if reason is None:
            labels[category["id"]] = category["name"]
        else:
            where = f"{path}: categories[{position}]"
            yield Flaw("malformed entry", where, f"{reason} Mend the entry.")
    return labels


def _region(
    annotation: dict[str, Any], labels: dict[int, str], width: int, height: int
) -> Region | tuple[str, str]:
    """What an annotation locates, or the kind of its flaw and the reason."""
    edges = annotation["bbox"]
    if len(edges) != 4 or not all(type(edge) in (int, float) for edge in edges):
        return (
            "malformed entry",
            f"'bbox' should be x, y, width and height, but is {edges}. Mend it.",
        )
    x, y, wide, high = edges
    box = (x, y, x + wide, y + high)
    flaw = wrong(box, width, height)
    if flaw is not None:
        return flaw
    category = annotation["category_id"]
    if category not in labels:
        reason = f"no category has the id {category}. Add it to 'categories', or mend the number."
        return "unknown category", reason
    crowd = {"crowd": True} if annotation.get("iscrowd") else {}
    return Region(labels[category], clipped(box, width, height), attributes=crowd)
