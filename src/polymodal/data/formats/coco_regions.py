"""COCO instances: the boxes of instances_train2017.json and its like, captions where there are some, and
stuff_train2017.json where it is asked for."""

from collections.abc import Generator, Iterator, Sequence
from typing import Any

from polymodal.base.errors import PolymodalError
from polymodal.data.formats.archive import Source, find, read_json
from polymodal.data.formats.coco import JsonObject, annotations_of, entry, images_of
from polymodal.data.formats.entry import Flaw, lack
from polymodal.data.formats.located import Located, clipped, wrong
from polymodal.data.records import Caption, Region

INSTANCES, STUFF = "instances_", "stuff_"

OTHER = "other"
"""The category of stuff that is none of the others; left out, as sg2im does."""

Boxes = dict[int | str, list[JsonObject]]


def read(source: Source, captioned: bool = False, stuff: bool = False) -> Iterator[Located | Flaw]:
    """One image after another, of every instances_*.json, captioned by the captions_*.json beside it.

    Args:
        source: where the files are.
        captioned: leave out images without a caption.
        stuff: add the regions of the stuff_*.json beside each, and leave out images without stuff.
    """
    names = [n for home in ("", "annotations/") for n in source.glob(f"{home}{INSTANCES}*.json")]
    if not names:
        raise PolymodalError(
            f"{source.path}: there is no {INSTANCES}*.json. Give COCO's folder, or a .zip of it, with "
            f"annotations/{INSTANCES}train2017.json or the like and the images."
        )
    for name in names:
        for one in _file(source, name, stuff):
            if isinstance(one, Flaw) or one.captions or not captioned:
                yield one


def _file(source: Source, name: str, stuff: bool) -> Iterator[Located | Flaw]:
    """The images of one file."""
    path = str(source.path / name)
    content = read_json(source, name, "images", "annotations", "categories")
    images = yield from images_of(content, path, width=int, height=int)
    kinds = [(yield from _boxes(content, path, images))]
    if stuff:
        kinds.append((yield from _stuff(source, name, images)))
        images = [image for image in images if image.values["id"] in kinds[1][0]]
    captions: Boxes = {}
    beside = find(source, name.replace(INSTANCES, "captions_"))
    if beside is not None:
        said = read_json(source, beside, "annotations")
        where = str(source.path / beside)
        captions = yield from annotations_of(said, where, images, "caption", caption=str)
    for image in images:
        width, height = image.values["width"], image.values["height"]
        if min(width, height) < 1:
            reason = f"expected the image's size in pixels, found {width}×{height}. Mend the entry."
            yield Flaw("malformed entry", image.where, reason)
            continue
        regions: list[Region] = []
        for boxes, labels in kinds:
            regions += yield from _regions(boxes.pop(image.values["id"], ()), labels, width, height)
        item = entry(name, image, captions.get(image.values["id"], ()), wordless=True)
        yield Located(item, tuple(map(Caption, item.captions)), tuple(regions), width, height)


def _boxes(
    content: dict[str, Any], path: str, images: Sequence[JsonObject]
) -> Generator[Flaw, None, tuple[Boxes, dict[int, str]]]:
    """The annotations of each image, and the name of each category."""
    boxes = yield from annotations_of(content, path, images, "box", category_id=int, bbox=list)
    labels = yield from _labels(content, path)
    return boxes, labels


def _stuff(
    source: Source, name: str, images: Sequence[JsonObject]
) -> Generator[Flaw, None, tuple[Boxes, dict[int, str]]]:
    """The same of the stuff beside a file of instances."""
    beside = name.replace(INSTANCES, STUFF)
    if find(source, beside) is None:
        raise PolymodalError(
            f"{source.path / name}: there is no {beside} beside it. Add COCO's annotations of stuff, or "
            "leave out stuff=yes."
        )
    content = read_json(source, beside, "annotations", "categories")
    boxes, labels = yield from _boxes(content, str(source.path / beside), images)
    known = {
        id: [one for one in some if labels.get(one.values["category_id"]) != OTHER]
        for id, some in boxes.items()
    }
    return known, labels


def _regions(
    boxes: Sequence[JsonObject], labels: dict[int, str], width: int, height: int
) -> Generator[Flaw, None, list[Region]]:
    """What some annotations locate."""
    regions = []
    for box in boxes:
        region = _region(box.values, labels, width, height)
        if isinstance(region, Region):
            regions.append(region)
        else:
            yield Flaw(region[0], box.where, region[1])
    return regions


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
