"""What is said of a scene: five sentences in scenes, nine words in two-objects (004, §5.2), two in
one-object (004, §5.5)."""

from polymodal.data.drawn.scenes import geometry
from polymodal.data.drawn.scenes.attributes import COLOURS, MATERIALS, RELATIONS, SHAPES, SIZES
from polymodal.data.drawn.scenes.scene_drawing import Layout
from polymodal.data.drawn.scenes.scene_phrases import (
    ALL,
    EDGES,
    NUMBERS,
    SUBSETS,
    Cast,
    Chance,
    Name,
    Noun,
    listed,
    sentence,
    single_out,
    some,
)
from polymodal.data.drawn.scenes.world_spec import PALETTES, WorldSpec
from polymodal.data.records import Caption, Phrase

WHERE = {
    "left": ("left of", "to the left of"),
    "right": ("right of", "to the right of"),
    "front": ("in front of",),
    "behind": ("behind",),
}
SIDE = {
    "leftmost": "Furthest left",
    "rightmost": "Furthest right",
    "frontmost": "At the very front",
    "rearmost": "At the very back",
}
WHOLE = ((3,), (1,), (1, 3), (2, 3), (0, 3), (0, 1), (0, 1, 3), (1, 2, 3), ALL, ALL)
"""Which attributes a sentence about everything says."""

WORDS = {
    "two-objects": (*SIZES, *COLOURS, *MATERIALS, *SHAPES, *RELATIONS),
    "one-object": (*PALETTES["one-object"]["size"], *PALETTES["one-object"]["colour"]),
}
"""All the words of the worlds whose captions are no sentences, kind by kind."""


def captions(world: WorldSpec, item: int, layout: Layout) -> tuple[Caption, ...]:
    """Everything that is said of one item of a world."""
    chance = Chance(world.root, item)
    return WRITERS[world.name](layout, chance)


def scene_captions(layout: Layout, chance: Chance) -> tuple[Caption, ...]:
    """Five sentences: on the whole, a part, an object, a relation, and one more of these three."""
    cast = Cast(
        layout.words(),
        tuple(layout.bodies[:, geometry.ASIDE].tolist()),
        tuple(layout.bodies[:, geometry.AHEAD].tolist()),
    )
    writers = [whole, part, an_object, a_relation, chance.pick((part, an_object, a_relation))]
    said: list[Caption] = []
    for write in writers:
        caption = write(cast, chance)
        for _ in range(8):  # the fifth may come out as one of the others
            if caption.text not in [other.text for other in said]:
                break
            caption = write(cast, chance)
        said.append(caption)
    return tuple(said)


def whole(cast: Cast, chance: Chance) -> Caption:
    """Name every object once."""
    everyone = tuple(range(len(cast)))
    kinds = chance.pick(WHOLE)
    nouns = [some(cast, alike, kinds, chance) for alike in cast.groups(everyone, kinds) or []]
    things: Noun = (f"{NUMBERS[len(cast)]} {chance.pick(('object', 'thing'))}", everyone)
    if len(cast) > 1:
        things = things[0] + "s", everyone
    starts: tuple[tuple[str | Noun, ...], ...] = (
        (things, ": "),
        ("a scene with ",),
        ("the picture shows ",),
        ("we see ", things, ": "),
    )
    return sentence("whole", *chance.pick(starts), *listed(nouns), ".")


def part(cast: Cast, chance: Chance) -> Caption:
    """Name some objects: those that share a word, or those at one edge."""
    at_edge = edge_part(cast, chance) if chance.below(2) else None
    if at_edge:
        return at_edge
    shared = {cast.fitting(k, (a,)): a for k in range(len(cast)) for a in ALL}
    several = [objects for objects in shared if 1 < len(objects) < len(cast)]
    objects = chance.pick(several or list(shared))
    name = some(cast, objects, (shared[objects],), chance)
    verb = "is" if len(objects) == 1 else "are"
    if chance.below(2):
        starts = (f"there {verb} ", "part of the scene: ", "among others, we see ")
        return sentence("part", chance.pick(starts), name, ".")
    nouns = details(cast, objects, chance)
    return sentence("part", chance.pick(("there ", "here ")) + f"{verb} ", name, ": ", *nouns, ".")


def edge_part(cast: Cast, chance: Chance) -> Caption | None:
    """Name the two or three objects at one edge, where words can tell them from all others."""
    if len(cast) < 3:
        return None
    edge = chance.pick(EDGES)
    objects = tuple(sorted(cast.order(edge)[: 2 + chance.below(min(2, len(cast) - 2))]))
    if cast.groups(objects, ALL) is None:
        return None
    nouns = details(cast, objects, chance)
    if chance.below(2):
        return sentence("part", f"{SIDE[edge]} are ", *nouns, ".")
    thing = chance.pick(("objects", "things"))
    name = (f"the {NUMBERS[len(objects)]} {edge} {thing}", objects)
    return sentence("part", name, " are ", *nouns, ".")


def details(cast: Cast, objects: tuple[int, ...], chance: Chance) -> list[str | Noun]:
    """A row of phrases for some objects, in words that fit no others."""
    ways = [kinds for kinds in SUBSETS if len(kinds) > 1 and cast.groups(objects, kinds)]
    kinds = chance.pick(ways)
    return listed([some(cast, one, kinds, chance) for one in cast.groups(objects, kinds) or []])


def one_of(cast: Cast, among: list[int], chance: Chance) -> Name:
    """The name of an object that words can single out."""
    while True:  # ends: the leftmost and the rightmost of any twins can be singled out
        name = single_out(cast, chance.pick(among), chance)
        if name:
            return name


def an_object(cast: Cast, chance: Chance) -> Caption:
    """Name one object, and sometimes say more of it."""
    name = one_of(cast, list(range(len(cast))), chance)
    size, colour, material, shape = cast.words[name.k]
    says = (size, colour, f"made of {material}", f"a {shape}")
    more = [says[a] for a in ALL if a not in name.kinds]
    if more and chance.below(2):
        return sentence("object", name.the(), f" is {chance.pick(more)}.")
    starts = ("there is ", "one can see ", "the picture has ", "")
    return sentence("object", chance.pick(starts), name.a(), ".")


def a_relation(cast: Cast, chance: Chance) -> Caption:
    """Say how one object stands to another."""
    if len(cast) == 1:
        return an_object(cast, chance)
    first = one_of(cast, list(range(len(cast))), chance)
    second = one_of(cast, [k for k in range(len(cast)) if k != first.k], chance)
    where = chance.pick(WHERE[holding(cast, first.k, second.k, chance)])
    if chance.below(2):
        verb = chance.pick(("is", "is", "stands"))
        return sentence("relation", first.the(), f" {verb} {where} ", second.the(), ".")
    if chance.below(2):
        return sentence("relation", "there is ", first.a(), f" {where} ", second.the(), ".")
    return sentence("relation", f"{where} ", second.the(), " is ", first.a(), ".")


def holding(cast: Cast, a: int, b: int, chance: Chance) -> str:
    """One of the two relations of a to b."""
    across = "left" if cast.aside[a] < cast.aside[b] else "right"
    return chance.pick((across, "front" if cast.ahead[a] < cast.ahead[b] else "behind"))


def nine_words(layout: Layout, chance: Chance) -> tuple[Caption, ...]:
    """One caption of nine words, of either object first and either relation that holds (004, §5.2).

    A phrase names the object that is meant, even where both would fit.
    """
    words, relations = layout.words(), layout.relations()
    a = chance.below(2)
    b = 1 - a
    relation = chance.pick([word for word in RELATIONS if (a, b) in relations[word]])
    first, second = " ".join(words[a]), " ".join(words[b])
    start = len(first) + len(relation) + 2
    phrases = (Phrase(0, len(first), (a,)), Phrase(start, start + len(second), (b,)))
    return (Caption(f"{first} {relation} {second}", "relation", phrases),)


def all_nine_words(layout: Layout) -> tuple[str, ...]:
    """The four texts that `nine_words` may write, one a relation, in the order of RELATIONS."""
    things, relations = [" ".join(words) for words in layout.words()], layout.relations()
    return tuple(
        f"{things[a]} {relation} {things[b]}"
        for relation in RELATIONS
        for a, b in relations[relation]
    )


def two_words(layout: Layout, chance: Chance) -> tuple[Caption, ...]:
    """One caption of the two words that vary: 'large red' (004, §5.5)."""
    text = " ".join(layout.words()[0][:2])
    return (Caption(text, "object", (Phrase(0, len(text), (0,)),)),)


WRITERS = {"scenes": scene_captions, "two-objects": nine_words, "one-object": two_words}
