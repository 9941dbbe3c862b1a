"""Captions are true: every phrase is parsed again and names just the objects that fit it."""

import itertools
import re

import numpy as np
import pytest

from polymodal.data.drawn import scenes as worlds
from polymodal.data.drawn.scenes import geometry
from polymodal.data.drawn.scenes import scene_captions as captions
from polymodal.data.drawn.scenes import scene_drawing as drawing
from polymodal.data.drawn.scenes.attributes import KINDS
from polymodal.data.records import Caption

SAME = {"tiny": "small", "big": "large", "matte": "rubber", "shiny": "metal"}
SAME |= {"ball": "sphere", "block": "cube"}
NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
EDGES = {"leftmost": "left", "rightmost": "right", "frontmost": "front", "rearmost": "behind"}
KIND = {word: column for column, known in enumerate(KINDS.values()) for word in known}


def order(layout: drawing.Layout, edge: str, among: list[int]) -> list[int]:
    """Objects by how many others they are left of (or right of, ...), most first."""
    pairs = layout.relations()[EDGES[edge]]
    return sorted(among, key=lambda k: -sum((k, other) in pairs for other in among))


def fitting(layout: drawing.Layout, phrase: str) -> tuple[int, ...]:
    """The objects that fit a phrase, found from its words alone."""
    words = [word.lower() for word in phrase.split()]
    count = 1
    among = list(range(len(layout.bodies)))
    edge = None
    for word in words:
        word = SAME.get(word.rstrip("s"), SAME.get(word, word))
        if word not in KIND and word.rstrip("s") in KIND:
            word = word.rstrip("s")
        if word in NUMBERS:
            count = NUMBERS.index(word)
        elif word in EDGES:
            edge = word
        elif word in KIND:
            among = [k for k in among if layout.words()[k][KIND[word]] == word]
        else:
            assert word in ("a", "an", "the", "object", "objects", "thing", "things"), word
    if edge:
        among = sorted(order(layout, edge, among)[:count])
    assert len(among) == count, phrase
    return tuple(among)


def check(layout: drawing.Layout, said: tuple[Caption, ...]) -> None:
    assert len(said) == 5
    assert {caption.extent for caption in said} == {"whole", "part", "object", "relation"}
    for caption in said:
        assert caption.text[0].isupper() and caption.text.endswith(".")
        for phrase in caption.phrases:
            text = caption.text[phrase.start : phrase.end]
            assert text == text.strip()
            assert fitting(layout, text) == phrase.regions
        named = [k for phrase in caption.phrases for k in phrase.regions]
        if caption.extent == "whole":
            everyone = list(range(len(layout.bodies)))
            once = [p.regions for p in caption.phrases if list(p.regions) != everyone]
            assert sorted(itertools.chain(*once)) in (everyone, [])
            assert set(named) == set(everyone)
        if caption.extent == "object":
            assert len(caption.phrases) == 1 and len(named) == 1
            check_predicate(layout, caption, named[0])
        if caption.extent == "relation":
            check_relation(layout, caption)


def check_predicate(layout: drawing.Layout, caption: Caption, k: int) -> None:
    found = re.search(r" is (?:made of |a )?(\w+)\.$", caption.text)
    if found and found[1] in KIND:
        assert layout.words()[k][KIND[found[1]]] == found[1]


def check_relation(layout: drawing.Layout, caption: Caption) -> None:
    words = {"left of": "left", "right of": "right", "in front of": "front", "behind": "behind"}
    found = [words[phrase] for phrase in words if phrase in caption.text.lower()]
    assert len(found) == 1 and len(caption.phrases) == 2
    (a,), (b,) = (phrase.regions for phrase in caption.phrases)
    if re.match(r"(to the |left|right|in front|behind)", caption.text.lower()):
        a, b = b, a
    assert (a, b) in layout.relations()[found[0]]


def test_captions_of_scenes_are_true() -> None:
    world = worlds.named("scenes", seed=1)
    texts: set[str] = set()
    for item in range(300):
        layout = drawing.lay_out(world, item)
        said = captions.captions(world, item, layout)
        check(layout, said)
        texts |= {caption.text for caption in said}
    assert len(texts) > 1300


@pytest.mark.parametrize("same", [0, 2, 4], ids=["none", "two groups", "all alike"])
def test_captions_of_twins_are_true(same: int) -> None:
    """Objects that no attribute tells apart are named together, or by where they stand."""
    world = worlds.named("scenes", objects=(3, 5))
    for item in range(60):
        layout = drawing.lay_out(world, item)
        count = len(layout.bodies)
        if same == 2:
            layout.bodies[:, :4] = np.where(np.arange(count)[:, None] < 2, 0, 1)
        if same == 4:
            layout.bodies[:, :4] = 1
        check(layout, captions.captions(world, item, layout))


def test_a_single_object_has_no_relation() -> None:
    world = worlds.named("scenes", objects=(1, 1))
    for item in range(20):
        said = captions.captions(world, item, drawing.lay_out(world, item))
        assert len(said) == 5
        assert {caption.extent for caption in said} == {"whole", "part", "object"}


def test_two_objects_are_said_in_nine_words() -> None:
    world = worlds.named("two-objects")
    relations, firsts = set(), set()
    for item in range(200):
        layout = drawing.lay_out(world, item)
        (caption,) = captions.captions(world, item, layout)
        words = caption.text.split()
        assert len(words) == 9
        (a,), (b,) = (phrase.regions for phrase in caption.phrases)
        assert {a, b} == {0, 1}
        assert tuple(words[:4]) == layout.words()[a] and tuple(words[5:]) == layout.words()[b]
        assert (a, b) in layout.relations()[words[4]]
        spans = [caption.text[p.start : p.end] for p in caption.phrases]
        assert spans == [" ".join(words[:4]), " ".join(words[5:])]
        relations.add(words[4])
        firsts.add(a)
    assert relations == {"left", "right", "front", "behind"} and firsts == {0, 1}


def test_all_nine_words_are_what_the_scene_says() -> None:
    world = worlds.named("two-objects", size=16, train=40, val=0)
    split = world.splits()["train"]
    for i in range(40):
        record = split[i]
        said = [region.name for region in record.regions]
        relations = record.relations
        expected = {f"{said[a]} {name} {said[b]}" for name in relations for a, b in relations[name]}
        texts = captions.all_nine_words(split.source.layout(i))
        assert [text.split()[4] for text in texts] == ["left", "right", "front", "behind"]
        assert set(texts) == expected
        assert record.captions[0].text in texts


@pytest.mark.parametrize("name", ["two-objects", "one-object"])
def test_the_words_of_a_world_are_those_that_it_says(name: str) -> None:
    split = worlds.named(name, train=300).splits()["train"]
    said = {word for i in range(300) for word in split.captions(i)[0].text.split()}
    assert said == set(captions.WORDS[name])
    assert len(captions.WORDS[name]) == len(said)


def test_one_object_is_said_in_two_words() -> None:
    world = worlds.named("one-object")
    said = set()
    for item in range(60):
        layout = drawing.lay_out(world, item)
        (caption,) = captions.captions(world, item, layout)
        said.add(caption.text)
        assert layout.words()[0] == (*caption.text.split(), "rubber", "sphere")
        assert layout.bodies[0, geometry.VISIBLE] == 1
    assert said == {"small red", "small blue", "large red", "large blue"}
