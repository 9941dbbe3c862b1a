"""captions.jsonl: a line an object of "image", "caption" or "captions", and maybe "split", "id"."""

import json
from collections.abc import Iterator
from typing import Any

from polymodal.base.errors import unknown
from polymodal.data.formats.archive import Source, read_text
from polymodal.data.formats.entry import Entry, Flaw, lack

KEYS = ("image", "caption", "captions", "split", "id")


def read(source: Source, name: str) -> Iterator[Entry | Flaw]:
    """One entry a line; lines with "caption" are gathered by image, "captions" are all of it."""
    for number, line in enumerate(read_text(source, name).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{source.path / name}:{number}"
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield Flaw("malformed line", where, f"broken JSON ({error}). Write one object a line.")
            continue
        reason = _wrong(value)
        if reason is not None:
            yield Flaw("malformed line", where, reason)
            continue
        yield Entry(
            image=value["image"],
            captions=tuple(value.get("captions", ())) or _single(value),
            where=where,
            id=str(value["id"]) if value.get("id") is not None else None,
            split=value.get("split"),
            whole="captions" in value,
        )


def _single(value: dict[str, Any]) -> tuple[str, ...]:
    return (value["caption"],) if "caption" in value else ()


def _wrong(value: Any) -> str | None:
    """What is wrong with the keys of a line, if anything is."""
    reason = lack(value, image=str)
    if reason is not None:
        return reason
    stranger = next((key for key in value if key not in KEYS), None)
    if stranger is not None:
        return f"{unknown('key', stranger, KEYS)} Rename the key, or take it out."
    if ("caption" in value) == ("captions" in value):
        return 'expected either "caption" (a text) or "captions" (a list of texts). Give one.'
    kinds: dict[str, type | tuple[type, ...]] = {
        "caption": str,
        "captions": list,
        "split": (str, type(None)),
        "id": (str, int, type(None)),
    }
    reason = lack(value, **{key: kind for key, kind in kinds.items() if key in value})
    if reason is None and not all(isinstance(c, str) for c in value.get("captions", ())):
        reason = "'captions' should be a list of texts. Put each caption in double quotes."
    return reason
