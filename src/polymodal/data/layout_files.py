"""Layouts in files that a person can write: `layout.json`.

    {"objects": [{"label": "red metal cube", "box": [0.1, 0.2, 0.4, 0.6]},
                 {"label": "blue rubber sphere", "box": [0.5, 0.5, 0.9, 0.9]}]}

A box is x0, y0, x1, y1 from the upper left corner in sides of the picture; with "size": [width, height]
beside "objects" it is in pixels of a picture of this size.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from polymodal.base import files
from polymodal.base.errors import PolymodalError, unknown
from polymodal.data.formats.archive import open_source, read_parsed
from polymodal.data.formats.entry import lack
from polymodal.data.layout_record import Layout, clipped, sound, what_is_wrong

LIKE = '{"objects": [{"label": "red metal cube", "box": [0.1, 0.2, 0.4, 0.6]}]}'
"""The smallest file."""

LARGEST = 1e9
"""No number of a box is as large as this: JSON may hold some that no float can."""


def read_layout(path: Path | str) -> Layout:
    """Read a layout, or say what is wrong with its file and where."""
    path = Path(path)
    if not path.is_file():
        raise PolymodalError(f"{path}: there is no such file. Write one, for example {LIKE}")
    content = read_parsed(open_source(path.parent), path.name)
    reason = lack(content, objects=list)
    if reason is not None:
        raise PolymodalError(f"{path}: {reason} A layout looks like {LIKE}")
    check_keys(content, ("size", "objects"), str(path))
    size = size_of(content, path)
    if not content["objects"]:
        raise PolymodalError(f"{path}: 'objects' is empty. Give one object at least: {LIKE}")
    labels, boxes = [], []
    for number, one in enumerate(content["objects"], 1):
        where = f"{path}: object {number}"
        reason = lack(one, label=str, box=list)
        if reason is not None:
            raise PolymodalError(f"{where}: {reason} Mend the object.")
        check_keys(one, ("label", "box"), where)
        labels.append(label_of(one["label"], where))
        boxes.append(box_of(one["box"], size, f"{where} ({one['label']})"))
    return Layout(tuple(labels), np.array(boxes, np.float32))


def size_of(content: Mapping[str, Any], path: Path) -> tuple[int, int] | None:
    """Width and height of the picture whose pixels the boxes count, None where they are in its sides."""
    if "size" not in content:
        return None
    size = content["size"]
    whole = isinstance(size, list) and len(size) == 2 and all(type(side) is int for side in size)
    if not whole or min(size) < 1:
        raise PolymodalError(
            f"{path}: 'size' should be [width, height] in pixels, whole numbers of 1 or more, but is "
            f"{json.dumps(size)}. Mend it, or leave it out and give boxes in sides of the picture."
        )
    return size[0], size[1]


def label_of(label: str, where: str) -> str:
    """A label without space about it."""
    if not label.strip():
        raise PolymodalError(f"{where}: 'label' is empty. Say what is in the box.")
    return label.strip()


def box_of(box: list[Any], size: tuple[int, int] | None, where: str) -> list[float]:
    """A box in sides of the picture."""
    if len(box) != 4 or not all(type(edge) in (int, float) and abs(edge) < LARGEST for edge in box):
        raise PolymodalError(
            f"{where}: 'box' should be four numbers x0, y0, x1, y1, but is {json.dumps(box)}. Mend it."
        )
    wide, high = size or (1, 1)
    edges = np.array([box], np.float64) / (wide, high, wide, high)
    if not sound(edges).all():
        pixels = size is None and max(box) > 1
        remedy = 'For boxes in pixels add "size": [width, height].' if pixels else "Mend it."
        raise PolymodalError(f"{where}: {what_is_wrong(box, size, remedy)}")
    inner: list[float] = clipped(edges)[0].tolist()
    return inner


def check_keys(content: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    """Refuse a key that means nothing here, and name the nearest that does."""
    for key in content:
        if key not in known:
            raise PolymodalError(f"{where}: {unknown('key', key, known)} Rename it or remove it.")


def write_layout(path: Path | str, layout: Layout) -> None:
    """Write a layout, its boxes in sides of the picture."""
    objects = [
        {"label": label, "box": [round(edge, 6) for edge in box]}
        for label, box in zip(layout.labels, layout.boxes.tolist(), strict=True)
    ]
    lines = ",\n".join(f"  {json.dumps(one, ensure_ascii=False)}" for one in objects)
    files.write_text(Path(path), f'{{"objects": [\n{lines}\n]}}\n')
