"""The boxes of a photo of Flickr30K Entities, `Annotations/ID.xml`: an object a box, or none for a chain."""

import re
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from polymodal.data.formats.archive import Source, read_text
from polymodal.data.formats.entry import Flaw
from polymodal.data.formats.located import Box, clipped, wrong
from polymodal.data.formats.xml_tree import BrokenXmlError, Node, read_xml

EDGES = ("xmin", "ymin", "xmax", "ymax")


@dataclass(frozen=True)
class Marked:
    """What the file says: the picture's size, every chain's number, and each box with its chain."""

    width: int
    height: int
    chains: frozenset[int]
    boxes: tuple[tuple[int, Box], ...]


def read_annotation(source: Source, name: str) -> Generator[Flaw, None, Marked | None]:
    """The boxes of a photo's chains; None where the file says nothing that can be used."""
    path = source.path / name
    try:
        root = read_xml(read_text(source, name))
    except BrokenXmlError as error:
        reason = f"this is no sound XML: {error}. Copy the file again."
        yield Flaw("broken XML", f"{path}:{error.line}", reason)
        return None
    sides = [root.told("size", side) or "" for side in ("width", "height")]
    if not all(re.fullmatch("[1-9][0-9]{0,5}", side) for side in sides):
        reason = "expected the picture's <size> with its <width> and <height>. Add it."
        yield Flaw("no size", f"{path}:{root.line}", reason)
        return None
    width, height = map(int, sides)
    chains: set[int] = set()
    boxes: list[tuple[int, Box]] = []
    for node in root.all("object"):
        names = [name.text.strip() for name in node.all("name")]
        if not names or not all(re.fullmatch("[1-9][0-9]{0,17}", name) for name in names):
            reason = f"expected the numbers of the object's chains, found {names or 'none'}"
            where = f"{path}:{node.line}"
            yield Flaw("malformed object", where, f"{reason}. Mend its <name>.")
            return None
        chains.update(map(int, names))
        box = _box(node, path, width, height)
        if isinstance(box, Flaw):
            yield box
        elif box is not None:
            boxes += [(int(name), box) for name in names]
    return Marked(width, height, frozenset(chains), tuple(boxes))


def _box(node: Node, path: Path, width: int, height: int) -> Box | Flaw | None:
    """An object's box, None where it is said to have none.

    The files count pixels from 1 and name the first and the last: xmin - 1 is where the first begins.
    """
    boxes = node.all("bndbox")
    if not boxes and "1" in (node.told("nobndbox"), node.told("scene")):
        return None
    edges = [box.told(edge) or "" for box in boxes for edge in EDGES]
    where = f"{path}:{node.line}"
    try:
        x0, y0, x1, y1 = map(float, edges)
    except ValueError:
        text = " ".join(edge or "?" for edge in edges) or "neither"
        reason = f"expected a <bndbox> of four numbers, or <nobndbox> or <scene> of 1, found {text}"
        return Flaw("malformed object", where, f"{reason}. Mend the object.")
    box = (x0 - 1, y0 - 1, x1, y1)
    flaw = wrong(box, width, height)
    return clipped(box, width, height) if flaw is None else Flaw(flaw[0], where, flaw[1])
