"""Reports of drawn films: what a radiologist sees, denies, leaves out, and sums up."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64

from polymodal.data.drawn.kernel.randomness import uniforms
from polymodal.data.drawn.xrays.findings import (
    FINDING,
    LEFT,
    NAMES,
    REPORT,
    RIGHT,
    SEVERITY,
)
from polymodal.data.drawn.xrays.report_sentences import ABSENT, ASIDES, NORMAL, SEEN, SUMMARY

DENIED = 0.38
"""The share of findings that are not there and are said not to be."""

SUMMED = 0.75
"""The share of findings that the impression names, if it may leave some out."""


class Chance:
    """Random numbers of one report, one after another."""

    def __init__(self, root: int, item: int) -> None:
        self._numbers = iter(uniforms(root, item, REPORT, 256).tolist())

    def __call__(self) -> float:
        """The next number in [0, 1)."""
        return float(next(self._numbers))

    def one(self, some: Sequence[str]) -> str:
        """One of several texts."""
        return some[int(self() * len(some))]


def sections(
    root: int, item: int, signs: Float64[np.ndarray, "14 6"], strength: float, omissions: float
) -> tuple[str, str]:
    """The sections of findings and of the impression.

    Args:
        root: the seed of the split.
        item: its number.
        signs: of the findings.
        strength: of all findings, as they were drawn.
        omissions: the share of findings that the report does not name anywhere.
    """
    chance = Chance(root, item)
    seen, denied, summed = [], [], []
    for k, name in enumerate(NAMES):
        kept, denies, sums = chance() >= omissions, chance() < DENIED, chance() < SUMMED
        wording, short = chance.one(SEEN[name]), chance.one(SUMMARY[name])
        absence = chance.one(ABSENT[name])
        words = {"side": side_of(signs[k]), "degree": degree_of(k, signs[k, SEVERITY], strength)}
        if signs[k, SEVERITY] > 0 and kept:
            seen.append(wording.format(**words))
            summed += [short.format(**words)] * sums
        elif signs[k, SEVERITY] == 0 and denies:
            denied.append(absence)
    asides = [chance.one(ASIDES)] if chance() < 0.6 else []
    sick = (
        chance.one(("See findings", "Abnormal chest as described")) if seen else chance.one(NORMAL)
    )
    texts = [*seen, *joined(denied), *asides]
    order = np.argsort([chance() for _ in texts], kind="stable")
    told = " ".join(sentence(texts[k]) for k in order) or sentence("the lungs are clear")
    if len(summed) > 1:
        return told, " ".join(f"{k}. {sentence(text)}" for k, text in enumerate(summed, 1))
    return told, sentence(summed[0] if summed else sick)


def side_of(sign: Float64[np.ndarray, "6"]) -> str:
    """Where it is, in words."""
    return "bilateral" if sign[RIGHT] and sign[LEFT] else "right" if sign[RIGHT] else "left"


def degree_of(finding: int, severity: float, strength: float) -> str:
    """How strong it is, in words.

    >>> nodule = NAMES.index("Nodule")
    >>> degree_of(nodule, 0.34, 1.0), degree_of(nodule, 0.2, 1.0)
    ('severe', 'mild')
    """
    share = severity / (strength * FINDING[finding].strength)
    return "mild" if share < 0.72 else "moderate" if share < 0.88 else "severe"


def joined(denied: Sequence[str]) -> list[str]:
    """What is denied with 'no' in one sentence, the rest in its own.

    >>> joined(["no mass", "the heart is normal in size", "no pneumothorax"])
    ['the heart is normal in size', 'no mass or pneumothorax']
    """
    plain = [text.removeprefix("no ") for text in denied if text.startswith("no ")]
    rest = [text for text in denied if not text.startswith("no ")]
    if len(plain) > 1:
        return [*rest, f"no {', '.join(plain[:-1])} or {plain[-1]}"]
    return [*rest, *(f"no {text}" for text in plain)]


def sentence(text: str) -> str:
    """A text with a capital and a full stop.

    >>> sentence("normal chest")
    'Normal chest.'
    """
    return f"{text[0].upper()}{text[1:]}."
