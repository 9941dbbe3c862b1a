"""Words that contradict a text, told by hand."""

import pytest

from polymodal.studies.figures.figure_texts import contradictions, lines_of, relation_place
from polymodal.studies.figures.pixel_sheet import Word

TOLD = "large red metal cube left small blue rubber sphere"


@pytest.mark.parametrize(
    ("said", "marked"),
    [
        (TOLD, ""),
        ("large red metal cube behind small blue rubber sphere", ""),
        ("large red metal cube right small blue rubber sphere", "right"),
        ("small blue rubber sphere right large red metal cube", ""),
        ("small blue rubber sphere left large red metal cube", "left"),
        ("small blue rubber sphere front large red metal cylinder", "cylinder"),
        ("large red metal cube cube small blue rubber -", "cube -"),
        ("large red metal left left small blue rubber sphere", "left"),
    ],
)
def test_words_that_contradict_are_marked(said, marked):
    found = contradictions(TOLD.split(), said.split())
    assert [w for w, bad in zip(said.split(), found, strict=True) if bad] == marked.split()


def test_a_word_contradicts_a_bag_of_words_that_lacks_it():
    assert contradictions(["male", "bangs", "-"], ["-", "bald", "male"], in_order=False) == [
        False,
        True,
        False,
    ]


def test_texts_without_a_relation_are_compared_in_place():
    assert contradictions(["large", "red"], ["red", "large"]) == [True, True]
    assert relation_place(["large", "red"]) is None


@pytest.mark.parametrize(
    ("text", "relation", "most", "lines"),
    [
        (TOLD, 4, 4, "large red metal cube|left|small blue rubber sphere"),
        (TOLD, 4, 2, "large red|metal cube|left|small blue|rubber sphere"),
        ("a b c d e", None, 2, "a b|c d|e"),
        ("left b", 0, 2, "left|b"),
    ],
)
def test_lines_break_at_the_relation(text, relation, most, lines):
    found = lines_of([Word(word) for word in text.split()], relation, most=most)
    assert "|".join(" ".join(word.text for word in line) for line in found) == lines
