"""What a reader of a caption file yields: an entry of the file, or a flaw and where it is."""

from dataclasses import dataclass

from polymodal.base.errors import PolymodalError


@dataclass(frozen=True)
class Entry:
    """What a caption file says of one image; nothing of it is checked against the images yet."""

    image: str
    captions: tuple[str, ...]
    where: str
    """File and line, or file and place in its JSON, for messages."""
    id: str | None = None
    split: str | None = None
    places: tuple[str, ...] = ("", "images")
    """Folders in which to look for the image, in order."""
    whole: bool = True
    """False where further entries of the same image add captions to it, as rows of a CSV do."""
    wordless: bool = False
    """Whether an image without a caption is sound."""


@dataclass(frozen=True)
class Flaw:
    """Something bad in the input: what kind, where it is, why it is bad and what mends it."""

    kind: str
    where: str
    reason: str

    def error(self) -> PolymodalError:
        """The flaw as what stops a strict reading."""
        return PolymodalError(
            f"{self.where}: {self.reason} (Or leave out what is bad: --skip-bad, skip_bad=True.)"
        )


def lack(value: object, **kinds: type | tuple[type, ...]) -> str | None:
    """Say which key of a JSON object is missing or of the wrong kind, if one is.

    >>> lack({"image": 3}, image=str)
    "'image' should be a text, but is a number."
    """
    if not isinstance(value, dict):
        return f"expected a JSON object in braces, found {_called(type(value))}."
    for key, kind in kinds.items():
        if key not in value:
            return f"the key {key!r} is missing; there are: {', '.join(value) or 'none'}."
        if not isinstance(value[key], kind):
            first = kind[0] if isinstance(kind, tuple) else kind
            type_name = _called(type(value[key]))
            return f"{key!r} should be {_called(first)}, but is {type_name}."
    return None


def _called(kind: type) -> str:
    names = {str: "a text", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(kind, "a truth value" if kind is bool else "null")
