"""Captions held against scenes: each is true of its own, and of others just where a slow reading says so."""

import re

import numpy as np
import pytest

from polymodal.base.errors import PolymodalError
from polymodal.data.drawn import scenes as worlds
from polymodal.data.drawn.scenes import geometry
from polymodal.data.drawn.scenes import scene_captions as captions
from polymodal.data.drawn.scenes import scene_drawing as drawing
from polymodal.data.drawn.scenes.attributes import KINDS
from polymodal.data.drawn.scenes.caption_truth import Scenes, claim
from polymodal.data.drawn.scenes.scene_drawing import Layout
from polymodal.data.features import Features, with_features
from polymodal.data.records import Caption, Phrase

SAME = {"tiny": "small", "big": "large", "matte": "rubber", "shiny": "metal", "ball": "sphere",
        "block": "cube"}  # fmt: skip
NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
AXES = {"left": (geometry.ASIDE, 1), "right": (geometry.ASIDE, -1), "front": (geometry.AHEAD, 1),
        "back": (geometry.AHEAD, -1), "rear": (geometry.AHEAD, -1)}  # fmt: skip


def named(layout: Layout, phrase: str) -> set[int] | None:
    """The objects that a phrase names, read word by word; None where it cannot be said."""
    among, count, edge = set(range(len(layout.bodies))), 1, None
    for word in phrase.lower().split():
        word = SAME.get(word, SAME.get(word.rstrip("s"), word.rstrip("s")))
        if word in NUMBERS:
            count = NUMBERS.index(word)
        elif word.endswith("most"):
            edge = word.removesuffix("most")
        elif word not in ("a", "an", "the", "object", "thing"):
            among = {k for k in among if word in layout.words()[k]}
    if edge:
        column, sign = AXES[edge]
        order = sorted(among, key=lambda k: sign * layout.bodies[k, column])
        return set(order[:count]) if len(among) > count else None
    return among if len(among) == count else None


def listed(text: str) -> list[str]:
    return re.split(r", | and ", text)


def holds(layout: Layout, text: str, extent: str) -> bool:
    """Whether a sentence is true, from its text alone and object by object."""
    text = text.rstrip(".")
    text = text[0].lower() + text[1:]
    if extent == "relation":
        return stands(layout, text)
    if extent == "object":
        found = re.fullmatch(r"(the .*) is (?:made of |a )?(\w+)", text)
        phrase = found[1] if found else re.sub("^(there is|one can see|the picture has) ", "", text)
        one = named(layout, phrase)
        return bool(one) and (not found or found[2] in layout.words()[min(one)])
    text = re.sub("^(a scene with|the picture shows|we see|there are|there is|here are|here is"
                  "|part of the scene:|among others, we see) ", "", text)  # fmt: skip
    room = set(range(len(layout.bodies)))
    at_edge = re.fullmatch(r"(?:furthest |at the very )(\w+) are (.*)", text)
    parts = re.split(": | are ", text)
    if at_edge:
        parts = [at_edge[2]]
    elif len(parts) == 2:
        room = named(layout, parts[0])
    sets = [named(layout, phrase) for phrase in listed(parts[-1])]
    if room is None or None in sets:
        return False
    union = set().union(*sets)
    if at_edge:
        column, sign = AXES[at_edge[1]]
        order = sorted(room, key=lambda k: sign * layout.bodies[k, column])
        return len(order) > len(union) and set(order[: len(union)]) == union
    return union == room if len(parts) == 2 or extent == "whole" else union <= room


def stands(layout: Layout, text: str) -> bool:
    """Whether 'the A is left of the B', in any of its orders."""
    where = "(to the left of|to the right of|left of|right of|in front of|behind)"
    text = text.removeprefix("there is ")
    turned = re.fullmatch(f"{where} (.*) is (.*)", text)
    plain = re.fullmatch(f"(.*?)(?: is| stands)? {where} (.*)", text)
    said, a, b = (turned[1], turned[3], turned[2]) if turned else (plain[2], plain[1], plain[3])
    first, second = named(layout, a), named(layout, b)
    if not first or not second:
        return False
    relation = next(name for name in ("left", "right", "front", "behind") if name in said)
    return (min(first), min(second)) in layout.relations()[relation]


def laid_out(count: int, **options) -> tuple[list[Layout], list[tuple[Caption, ...]]]:
    world = worlds.named("scenes", seed=3, **options)
    layouts = [drawing.lay_out(world, item) for item in range(count)]
    return layouts, [captions.captions(world, i, layout) for i, layout in enumerate(layouts)]


@pytest.mark.parametrize("objects", [(3, 8), (1, 3), (9, 10)])
def test_every_caption_is_true_of_its_own_scene(objects):
    count = 2000 if objects == (3, 8) else 150
    layouts, said = laid_out(count, objects=objects, overlap=objects[1] > 8)
    scenes = Scenes(layouts)
    for i, own in enumerate(said):
        for caption in own:
            assert scenes.true(claim(caption))[i], caption.text


@pytest.mark.parametrize("objects", [(3, 8), (2, 3)])
def test_captions_are_true_of_others_just_where_a_slow_reading_says_so(objects):
    layouts, said = laid_out(60, objects=objects)
    scenes = Scenes(layouts)
    shares: dict[str, list[float]] = {}
    for own in said:
        for caption in own:
            found = scenes.true(claim(caption))
            expected = [holds(layout, caption.text, caption.extent) for layout in layouts]
            assert found.tolist() == expected, caption.text
            shares.setdefault(caption.extent, []).append(found.mean())
    assert set(shares) == {"whole", "part", "object", "relation"}
    assert all(np.mean(share) > 1 / 60 for share in shares.values())  # some of others too


def scene(*things: str) -> Layout:
    """Things as 'large red metal cube at 1 2': to the right, and away."""
    bodies = np.zeros((len(things), geometry.COLUMNS))
    for body, thing in zip(bodies, things, strict=True):
        *words, _, aside, ahead = thing.split()
        body[:4] = [known.index(word) for word, known in zip(words, KINDS.values(), strict=True)]
        body[geometry.ASIDE], body[geometry.AHEAD] = float(aside), float(ahead)
    return Layout(np.zeros(1), bodies)


SCENE = scene(
    "large red metal cube at -2 1",
    "small red rubber cube at 0 3",
    "small blue metal sphere at 1 2",
    "small blue metal sphere at 3 0",
)


@pytest.mark.parametrize(
    ("extent", "text", "true"),
    [
        ("whole", "[Four things]: [two red blocks] and [two blue balls].", True),
        ("whole", "A scene with [two red things] and [two spheres].", True),
        ("whole", "A scene with [two red cubes].", False),  # and the others?
        ("whole", "[Three things]: [a large red cube] and [two spheres].", False),
        ("part", "There are [two blue objects].", True),
        ("part", "There are [three small things].", True),
        ("part", "There are [two small things].", False),  # but three
        ("part", "Here are [two red things]: [a large cube] and [a rubber cube].", True),
        ("part", "Here are [two red things]: [a metal cube] and [two balls].", False),
        ("part", "Furthest left are [a large red thing] and [a rubber cube].", True),
        ("part", "Furthest right are [a large red thing] and [a rubber cube].", False),
        ("part", "At the very front are [a metal cube] and [a rubber cube].", False),
        ("part", "[The two rightmost objects] are [two blue balls].", True),
        ("part", "[The two rearmost objects] are [two blue balls].", False),
        ("object", "There is [a rubber thing].", True),
        ("object", "There is [a green thing].", False),
        ("object", "There is [a cube].", False),  # but two
        ("object", "[The rubber thing] is a cube.", True),
        ("object", "[The rubber thing] is large.", False),
        ("object", "One can see [the leftmost small blue metal sphere].", True),
        ("object", "One can see [the leftmost large red metal cube].", False),  # of one
        ("relation", "[The rubber cube] is behind [the large cube].", True),
        ("relation", "[The rubber cube] is in front of [the large cube].", False),
        ("relation", "To the left of [the rubber cube] is [a large cube].", True),
        ("relation", "To the right of [the rubber cube] is [a large cube].", False),
        ("relation", "There is [a large cube] left of [the rightmost small blue metal ball].", True),
        ("relation", "[The large thing] is left of [the metal cube].", False),  # of itself
        ("relation", "[The green thing] is left of [the metal cube].", False),
    ],
)  # fmt: skip
def test_by_hand(extent, text, true):
    phrases, plain = [], ""
    for piece in re.split(r"(\[.*?\])", text):
        if piece.startswith("["):
            phrases.append(Phrase(len(plain), len(plain) + len(piece) - 2, ()))
        plain += piece.strip("[]")
    caption = Caption(plain, extent, tuple(phrases))
    other = scene("small yellow metal cylinder at 0 0")
    assert Scenes([other, SCENE]).true(claim(caption)).tolist() == [False, true]


def test_a_split_knows_its_truth_by_rows_of_captions():
    split = worlds.named("scenes", train=20, val=1, test=1).splits()["train"]
    rows = split.column("captions").truth()
    found = np.concatenate([rows(slice(start, start + 30)) for start in range(0, 100, 30)])
    assert found.shape == (100, 20)
    assert found[np.arange(100), np.arange(100) // 5].all()
    assert 0.05 < found.mean() < 0.5
    vectors = with_features(split, Features(np.zeros((20, 2), np.float32), encoder="mean"))
    assert np.array_equal(vectors.column("captions").truth()(slice(0, 100)), found)
    assert split.take([3, 4]).column("captions").truth is None


def test_elsewhere_nobody_knows(squares):
    from polymodal.data.folder import open_folder

    for split in (
        worlds.named("one-object", train=5).splits()["train"],
        open_folder(squares, size=32, progress=False)["val"],
    ):
        assert split.column("captions").truth is None


@pytest.mark.parametrize(
    ("text", "extent", "phrases"),
    [
        ("A man on a horse.", "object", (Phrase(0, 5, ()),)),
        ("There is a red cube.", "object", ()),
        ("The red cube is under the ball.", "relation", (Phrase(0, 12, ()), Phrase(22, 30, ()))),
    ],
)
def test_other_captions_are_refused(text, extent, phrases):
    with pytest.raises(PolymodalError, match="is no caption that the world 'scenes' writes"):
        claim(Caption(text, extent, phrases))
