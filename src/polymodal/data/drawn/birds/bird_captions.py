"""What is said of a bird: the name of its class, and what this one looks like."""

from collections.abc import Sequence

from polymodal.data.drawn.birds.plumage import GROUPS
from polymodal.data.records import Caption


def captions(name: str, codes: Sequence[int]) -> tuple[Caption, Caption]:
    """The name of its class, and a sentence on every attribute of the bird at hand.

    >>> captions("masked wren", [0] * 18)[1].text[:58]
    'a small bird with a short black cone beak, black eyes, a b'
    """
    said = {group: GROUPS[group][code] for group, code in zip(GROUPS, codes, strict=True)}
    beak = f"{said['beak length']} {said['beak colour']} {said['beak shape']} beak"
    features = [
        f"a {beak}",
        f"{said['eye colour']} eyes",
        f"{_a(said['crown colour'])} crown",
        f"{_a(said['throat colour'])} throat",
        f"{_a(_marked(said['breast pattern'], said['breast colour']))} breast",
        f"{_a(said['belly colour'])} belly",
        f"{_a(said['back colour'])} back",
        f"{_marked(said['wing pattern'], said['wing colour'])} wings",
        f"a {said['tail shape']} {said['tail colour']} tail",
    ]
    kind = " ".join(
        word for word in (said["face"], said["crest"]) if word not in ("plain", "smooth")
    )
    subject = f"a {said['size']} {kind} bird".replace("  ", " ")
    text = f"{subject} with {', '.join(features)} and {said['leg colour']} legs"
    return Caption(_a(name)), Caption(text)


def _marked(pattern: str, colour: str) -> str:
    """A colour, and its pattern where there is one."""
    return colour if pattern == "solid" else f"{pattern} {colour}"


def _a(words: str) -> str:
    """With its article."""
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"
