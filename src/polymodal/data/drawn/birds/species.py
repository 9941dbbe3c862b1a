"""The classes of birds: twelve genera of five species each, which differ in some of their attributes.

Every species has a usual and a rarer value of each group of attributes, and a known share of its
birds shows the usual one. So its attributes are shares of birds, as in CUB, but exact.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Float32, Float64, Int64

from polymodal.data.drawn.birds.plumage import ATTRIBUTES, GROUPS

GENERA = {
    "finch": ("medium", "cone"),
    "wren": ("small", "needle"),
    "shrike": ("medium", "hooked"),
    "starling": ("large", "needle"),
    "siskin": ("small", "cone"),
    "warbler": ("medium", "needle"),
    "grosbeak": ("large", "cone"),
    "tody": ("small", "hooked"),
    "kestrel": ("large", "hooked"),
    "bunting": ("medium", "cone"),
    "thrush": ("medium", "needle"),
    "tit": ("small", "cone"),
}
"""The usual size and shape of beak of each genus."""

SPECIES_OF_A_GENUS = 5
"""Species of a genus; class SPECIES_OF_A_GENUS × g + k is species k of genus g."""

UNSEEN = tuple(SPECIES_OF_A_GENUS * genus + k for genus in range(5) for k in (2, 3, 4))
VAL = tuple(SPECIES_OF_A_GENUS * genus + k for genus in range(5, 10) for k in (3, 4))
TRAIN = tuple(k for k in range(SPECIES_OF_A_GENUS * len(GENERA)) if k not in UNSEEN + VAL)
"""The classes by what they are for. Unseen ones have kin among each other and among the seen."""

APART = 5
"""Any two species differ in what is usual in at least so many groups."""

CHANGES = 0.3
"""How likely a group of a species is drawn again, and not taken from its genus."""

LIKENESS = (
    ("wing colour", "back colour", 0.45),
    ("tail colour", "wing colour", 0.40),
    ("belly colour", "breast colour", 0.40),
    ("throat colour", "crown colour", 0.30),
)
"""How often one part of a genus has the colour of another, where it can."""

SHARES = (1.0, 0.95, 0.9, 0.8, 0.7)
"""How many birds of a species may show the usual value of a group."""

ROOT = 10
"""The seed of all species: they are the same whatever the seed of the world."""

ANCESTORS, LIKENESSES, REDRAWN, VALUES, RARER, SHARED = 0, 1, 2, 3, 4, 5
"""The streams that they are drawn from."""


ENDINGS = {
    "crown": "crowned",
    "throat": "throated",
    "breast": "breasted",
    "belly": "bellied",
    "back": "backed",
    "wing": "winged",
    "tail": "tailed",
    "leg": "legged",
    "eye": "eyed",
    "beak": "billed",
}
STEMS = {
    "spotted": "spot",
    "striped": "stripe",
    "barred": "bar",
    "forked": "fork",
    "pointed": "pin",
}
"""What a name is made of: a bird with barred wings is bar-winged."""


@dataclass(frozen=True)
class Species:
    """All classes: arrays with a row a class and a column a group of attributes."""

    names: tuple[str, ...]
    usual: Int64[np.ndarray, "c g"]
    rarer: Int64[np.ndarray, "c g"]
    share: Float64[np.ndarray, "c g"]

    @property
    def attributes(self) -> Float32[np.ndarray, "c a"]:
        """The share of each class's birds that shows each attribute."""
        return one_hot(self.usual, self.share) + one_hot(self.rarer, 1 - self.share)


def one_hot(
    codes: Int64[np.ndarray, "n g"], weights: Float64[np.ndarray, "n g"]
) -> Float32[np.ndarray, "n a"]:
    """A column an attribute: the weight of its group where the code is its own, else 0."""
    starts = np.cumsum([0, *map(len, GROUPS.values())])[:-1]
    table = np.zeros((len(codes), len(ATTRIBUTES)), np.float32)
    np.put_along_axis(table, starts + codes, weights.astype(np.float32), 1)
    return table


@cache
def species() -> Species:
    """All species, each the first of its genus that is far enough from all before it."""
    usual: list[Int64[np.ndarray, " g"]] = []
    for genus in range(len(GENERA)):
        ancestor, attempt = _ancestor(genus), 0
        while len(usual) < SPECIES_OF_A_GENUS * (genus + 1):
            one = _descendant(ancestor, 1000 * genus + attempt)
            if all((one != other).sum() >= APART for other in usual):
                usual.append(one)
            attempt += 1
    codes = np.stack(usual)
    rarer, share = _variation(codes)
    return Species(_names(codes), codes, rarer, share)


def _ancestor(genus: int) -> Int64[np.ndarray, " g"]:
    """The values that a genus starts from: by chance, some parts with the colour of another."""
    numbers, chances = _numbers(genus, ANCESTORS), _numbers(genus, LIKENESSES)
    words = {
        group: values[int(u * len(values))]
        for (group, values), u in zip(GROUPS.items(), numbers, strict=True)
    }
    for (group, like, often), chance in zip(LIKENESS, chances, strict=False):
        if chance < often and words[like] in GROUPS[group]:
            words[group] = words[like]
    words["size"], words["beak shape"] = list(GENERA.values())[genus]
    return np.array([GROUPS[group].index(word) for group, word in words.items()])


def _descendant(ancestor: Int64[np.ndarray, " g"], number: int) -> Int64[np.ndarray, " g"]:
    """A species that might be: its ancestor's values, some of them drawn again."""
    counts = np.array([len(values) for values in GROUPS.values()])
    again = _numbers(number, REDRAWN) < CHANGES
    again[[list(GROUPS).index(group) for group in ("size", "beak shape")]] = False
    return np.where(again, (_numbers(number, VALUES) * counts).astype(np.int64), ancestor)


def _variation(
    usual: Int64[np.ndarray, "c g"],
) -> tuple[Int64[np.ndarray, "c g"], Float64[np.ndarray, "c g"]]:
    """The rarer value of each species and group, and the share of the usual one."""
    counts = np.array([len(values) for values in GROUPS.values()])
    steps = np.stack([_numbers(k, RARER) for k in range(len(usual))])
    picks = np.stack([_numbers(k, SHARED) for k in range(len(usual))])
    rarer = (usual + 1 + (steps * (counts - 1)).astype(np.int64)) % counts
    return rarer, np.array(SHARES)[(picks * len(SHARES)).astype(np.int64)]


def _numbers(number: int, stream: int) -> Float64[np.ndarray, " g"]:
    """A random number a group."""
    from polymodal.data.drawn.kernel.randomness import uniforms

    numbers: np.ndarray = uniforms(ROOT, number, stream, len(GROUPS))
    return numbers


def _names(usual: Int64[np.ndarray, "c g"]) -> tuple[str, ...]:
    """A name a species: what the fewest of its kin share with it, and its genus."""
    names: list[str] = []
    for k, codes in enumerate(usual):
        genus = k // SPECIES_OF_A_GENUS
        shared = (
            usual[SPECIES_OF_A_GENUS * genus : SPECIES_OF_A_GENUS * (genus + 1)] == codes
        ).sum(0)
        order = sorted(range(len(GROUPS)), key=lambda g: (shared[g], (g + 5 * k) % len(GROUPS)))
        words = [(group, GROUPS[group][code]) for group, code in zip(GROUPS, codes, strict=True)]
        candidates = (f"{_epithet(*words[g])} {list(GENERA)[genus]}".strip() for g in order)
        names.append(next(name for name in candidates if " " in name and name not in names))
    return tuple(names)


def _epithet(group: str, word: str) -> str:
    """What a bird may be called for; empty where nobody would.

    >>> _epithet("crown colour", "red"), _epithet("wing pattern", "barred")
    ('red-crowned', 'bar-winged')
    """
    part, _, kind = group.partition(" ")
    if word in ("plain", "smooth", "solid") or group == "size":
        return ""
    return f"{STEMS.get(word, word)}-{ENDINGS[part]}" if kind else word
