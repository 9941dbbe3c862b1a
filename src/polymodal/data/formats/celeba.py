"""CelebA in its own files: list_attr_celeba.txt, img_align_celeba/ and list_eval_partition.txt.

A caption is the names of the attributes that an image has, of those that 004 speaks of (§5.2). They
have no order of their own: whoever learns from them shuffles them.
"""

from collections.abc import Iterator
from pathlib import Path

from polymodal.base.errors import PolymodalError
from polymodal.data.formats.archive import Source, find, read_text
from polymodal.data.formats.entry import Entry, Flaw
from polymodal.data.formats.two_columns import read_table

WORDS = (
    "Bushy_Eyebrows", "Male", "Female", "Mouth_Slightly_Open", "Smiling", "Bald", "Bangs",
    "Black_Hair", "Blond_Hair", "Brown_Hair", "Eyeglasses", "Gray_Hair", "Heavy_Makeup", "Mustache",
    "Pale_Skin", "Receding_Hairline", "Straight_Hair", "Wavy_Hair", "Wearing_Hat",
)  # fmt: skip
"""What is said of a face, in the order of 004, §5.2; Female, which the file lacks, is not Male."""

MOST = 9
"""The most words of a caption; where more would be true, the first of WORDS are said."""

TRAIN, IMAGES = 180_000, 202_599
"""How many of CelebA's images 004 trains on: the first, the rest is for validation."""

PARTITIONS = ("list_eval_partition.txt", "Eval/list_eval_partition.txt")
SPLITS = {"0": "train", "1": "val", "2": "test"}
PLACES = ("img_align_celeba", "Img/img_align_celeba")


def read(source: Source, name: str) -> Iterator[Entry | Flaw]:
    """One entry an image; without a partition file the splits are 004's, in proportion."""
    path = source.path / name
    lines = read_text(source, name).split("\n")
    count, names = _header(lines, path)
    rows = [(f"{path}:{n}", line) for n, line in enumerate(lines[2:], start=3) if line.strip()]
    if len(rows) != count:
        reason = f"the first line promises {count} images, but {len(rows)} follow."
        remedy = "Is the file whole? Copy it again, or mend the number."
        yield Flaw("truncated file", f"{path}:1", f"{reason} {remedy}")
    partition = find(source, *PARTITIONS)
    splits, flaws = read_table(source, partition, SPLITS) if partition else ({}, [])
    yield from flaws
    for position, (where, line) in enumerate(rows):
        image, *values = line.split()
        wrong = _wrong(names, values)
        if wrong is not None:
            yield Flaw("malformed line", where, wrong)
        elif partition and image not in splits:
            reason = f"{image!r} has no line in {source.path / partition}. Add one, or remove this."
            yield Flaw("no split", where, reason)
        else:
            split = SPLITS[splits[image].value] if partition else _split(position, len(rows))
            caption = " ".join(_said(names, values)[:MOST])
            yield Entry(image, (caption,), where, split=split, places=PLACES)


def _header(lines: list[str], path: Path) -> tuple[int, list[str]]:
    """How many images the file says it has, and the names of its columns."""
    count = lines[0].strip()
    if not count.isdecimal() or len(count) > 18:
        raise PolymodalError(
            f"{path}:1: expected the number of images, found {count[:40]!r}. "
            "Is this CelebA's own file? Copy it again."
        )
    names = lines[1].split() if len(lines) > 1 else []
    for word in WORDS:
        if word != "Female" and names.count(word) != 1:
            raise PolymodalError(
                f"{path}:2: expected the attribute {word!r} once, found it {names.count(word)} "
                f"times in: {' '.join(names) or 'an empty line'}. Mend the line."
            )
    return int(count), names


def _wrong(names: list[str], values: list[str]) -> str | None:
    """What is wrong with a row, if anything is."""
    if len(values) != len(names):
        return f"expected {len(names)} values after the image, found {len(values)}. Mend the line."
    for name, value in zip(names, values, strict=True):
        if value not in ("1", "-1"):
            return f"{name!r} should be 1 or -1, but is {value!r}. Mend the line."
    return None


def _said(names: list[str], values: list[str]) -> list[str]:
    """The words that are true of an image, in the order of WORDS."""
    has = {name for name, value in zip(names, values, strict=True) if value == "1"}
    return [word for word in WORDS if word in has or (word == "Female" and "Male" not in has)]


def _split(position: int, count: int) -> str:
    """004's split of all CelebA, and the same share of a part of it."""
    return "train" if position * IMAGES < TRAIN * count else "val"
