"""Flickr30K Entities in its own files: captions whose phrases are linked to boxes by chains.

`Sentences/ID.txt` has a caption a line, with phrases in it as `[/EN#chain/type words]`;
`Annotations/ID.xml` has the boxes of each chain. A box of several chains is a region for each, so that
a region's label is what its chain is. Chains without a box are no regions, and phrases of them have
none. So have those of type `notvisual`, whose chain is 0: they stay phrases, for whoever wants them.
"""

import re
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass

from polymodal.base.errors import PolymodalError
from polymodal.data.formats.archive import Source, read_text
from polymodal.data.formats.entities_boxes import read_annotation
from polymodal.data.formats.entities_splits import Listed
from polymodal.data.formats.entry import Entry, Flaw
from polymodal.data.formats.located import Box, Located
from polymodal.data.records import Caption, Phrase, Region

SENTENCES, ANNOTATIONS = "Sentences", "Annotations"

NOT_VISUAL = 0
"""The chain of phrases that name nothing to be seen."""

PHRASE = re.compile(r"\[/EN#(\d{1,18})((?:/[^\s/\[\]]+)+)\s+([^\s\[\]](?:[^\[\]]*[^\s\[\]])?)\s*\]")
FORM = "[/EN#chain/type words]"


@dataclass(frozen=True)
class Mention:
    """A phrase of a sentence: its characters [start, end), its chain and its types."""

    start: int
    end: int
    chain: int
    types: tuple[str, ...]


def read(
    source: Source,
    pictures: Mapping[str, str],
    listed: Mapping[str, Listed],
    unrelated: Mapping[str, Sequence[int]],
) -> Iterator[Located | Flaw]:
    """One photo after another, by id.

    Args:
        source: where the annotations are.
        pictures: the image file of each id.
        listed: the split of each id, and its size where it is told; photos that are not in it are not
            looked at.
        unrelated: the captions, counted from 1, that are not about their photo: they are left out.
    """
    ids = {
        name.rpartition("/")[2].rpartition(".")[0]
        for pattern in (f"{SENTENCES}/*.txt", f"{ANNOTATIONS}/*.xml")
        for name in source.glob(pattern)
    }
    if not ids:
        raise PolymodalError(
            f"{source.path}: there is no {SENTENCES}/*.txt. Give the folder of Flickr30K Entities, or a "
            f".zip of it, with {SENTENCES}/, {ANNOTATIONS}/ and its split."
        )
    for id in sorted(ids & set(listed)):
        sentences, annotation = f"{SENTENCES}/{id}.txt", f"{ANNOTATIONS}/{id}.xml"
        where = str(source.path / sentences)
        absent = [name for name in (sentences, annotation) if source.size(name) is None]
        if absent:
            reason = f"the photo {id} lacks {absent[0]}. Copy it from the dataset."
            yield Flaw("missing annotation", where, reason)
        elif id not in pictures:
            reason = (
                f"there is no picture {id}.jpg (or .webp, .png, …). Add it, or remove the photo."
            )
            yield Flaw("missing image", where, reason)
        else:
            yield from _photo(source, id, pictures[id], listed[id], unrelated.get(id, ()))


def _photo(
    source: Source, id: str, picture: str, listed: Listed, unrelated: Sequence[int]
) -> Iterator[Located | Flaw]:
    """One photo, and what is wrong with it."""
    where = f"{source.path / SENTENCES / id}.txt"
    marked = yield from read_annotation(source, f"{ANNOTATIONS}/{id}.xml")
    if marked is None:
        return
    size = listed.size
    if size is not None and (size.width, size.height) != (marked.width, marked.height):
        reason = (
            f"here the photo is {marked.width}×{marked.height}, but {size}. Mend the wrong one."
        )
        yield Flaw("sizes disagree", f"{source.path / ANNOTATIONS / id}.xml", reason)
        return
    said = yield from read_sentences(source, f"{SENTENCES}/{id}.txt", marked.chains)
    if not said:
        return
    labels = _labels(mention for _, _, mentions in said for mention in mentions)
    boxes = [(chain, box) for chain, box in marked.boxes if chain in labels]
    captions = tuple(
        Caption(text, phrases=tuple(_phrase(one, boxes) for one in mentions))
        for number, text, mentions in said
        if number not in unrelated
    )
    entry = Entry(
        image=picture,
        captions=tuple(caption.text for caption in captions),
        where=where,
        id=id,
        split=listed.split,
        places=("",),
    )
    regions = tuple(
        Region(labels[chain][0], box, attributes={"chain": chain, "types": labels[chain]})
        for chain, box in boxes
    )
    yield Located(entry, captions, regions, marked.width, marked.height)


def _labels(mentions: Iterator[Mention]) -> dict[int, tuple[str, ...]]:
    """The types of each chain, those that its phrases have most often first."""
    counts: dict[int, Counter[str]] = {}
    for mention in mentions:
        counts.setdefault(mention.chain, Counter()).update(mention.types)
    return {chain: tuple(t for t, _ in many.most_common()) for chain, many in counts.items()}


def _phrase(mention: Mention, boxes: Sequence[tuple[int, Box]]) -> Phrase:
    """A mention with the places of its chain's boxes."""
    regions = tuple(k for k, (chain, _) in enumerate(boxes) if chain == mention.chain)
    return Phrase(mention.start, mention.end, regions, mention.types)


def read_sentences(
    source: Source, name: str, chains: frozenset[int]
) -> Generator[Flaw, None, list[tuple[int, str, tuple[Mention, ...]]]]:
    """The captions of a photo: number, text and mentions of each that is sound."""
    sentences: list[tuple[int, str, tuple[Mention, ...]]] = []
    path = source.path / name
    lines = read_text(source, name).split("\n")
    if not any(line.strip() for line in lines):
        yield Flaw("no sentence", str(path), "there is no sentence in the file. Copy it again.")
    number = 0
    for row, line in enumerate(lines, 1):
        if not line.strip():
            continue
        number += 1
        reason = malformed(line)
        if reason is not None:
            yield Flaw("malformed phrase", f"{path}:{row}", f"{reason} Mend the phrase.")
            continue
        text, mentions = parse(line)
        unknown = [m for m in mentions if m.chain not in chains and m.chain != NOT_VISUAL]
        if unknown:
            phrase = text[unknown[0].start : unknown[0].end]
            reason = f"the annotations have no chain {unknown[0].chain}, of the phrase {phrase!r}"
            yield Flaw("unknown chain", f"{path}:{row}", f"{reason}. Mend its number.")
        else:
            sentences.append((number, text, mentions))
    return sentences


def malformed(line: str) -> str | None:
    """Why the brackets of a sentence are no phrases, if they are not.

    >>> malformed("[/EN#1/people A man] in [/EN#2/clothing a hat")
    "the phrase '[/EN#2/clothing a hat' has no end."
    """
    begun: int | None = None
    for bracket in re.finditer(r"[\[\]]", line):
        place = bracket.start()
        if bracket[0] == "[" and begun is not None:
            return f"a bracket opens within the phrase {line[begun : place + 1]!r}."
        if bracket[0] == "[":
            begun = place
        elif begun is None:
            return f"the bracket at column {place + 1} closes no phrase."
        elif not PHRASE.fullmatch(line, begun, place + 1):
            return f"expected a phrase {FORM}, found {line[begun : place + 1]!r}."
        else:
            begun = None
    return None if begun is None else f"the phrase {line[begun:].strip()!r} has no end."


def parse(line: str) -> tuple[str, tuple[Mention, ...]]:
    """The text of a sound sentence, and its mentions.

    >>> parse("[/EN#1/people A man] sits .")
    ('A man sits .', (Mention(start=0, end=5, chain=1, types=('people',)),))
    """
    text, done, mentions = "", 0, []
    line = line.strip()
    for phrase in PHRASE.finditer(line):
        text += line[done : phrase.start()]
        chain, types, words = phrase.groups()
        mentions.append(
            Mention(len(text), len(text) + len(words), int(chain), tuple(types[1:].split("/")))
        )
        text += words
        done = phrase.end()
    return text + line[done:], tuple(mentions)
