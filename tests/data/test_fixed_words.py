"""Whole words for texts of one length: order, blanks, what is said to a mistake, and JSON."""

import json

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.data.fixed_words import BLANK, Words, spoken

FACES = Words(words=(BLANK, "male", "bushy_eyebrows", "smiling"), length=3)


def test_frequent_words_come_after_the_blank_and_ties_by_alphabet() -> None:
    words = Words.of(["b a c", "c b", "d - a b"])
    assert words.words == (BLANK, "b", "a", "c", "d")
    assert words.length == 4
    assert words == Words.of(["d - a b", "c b", "b a c"])
    assert len(words) == 5


def test_words_are_apart_by_spaces_in_any_capitals() -> None:
    assert spoken(" Bushy_Eyebrows,\tMALE.  \n") == ["bushy_eyebrows", "male"]
    assert spoken("A red cube; all-purpose!") == ["a", "red", "cube", "all-purpose"]
    assert spoken("Cafe\u0301 ?") == ["caf\u00e9"]
    assert Words.of(["A b", "a B"]).words == (BLANK, "a", "b")


def test_a_text_ends_in_blanks() -> None:
    rows = FACES.encode(["Smiling", "male, BUSHY_eyebrows smiling.", "- male"])
    assert rows.tolist() == [[3, 0, 0], [1, 2, 3], [0, 1, 0]]
    assert rows.dtype == torch.int64


def test_no_texts_have_the_length_too() -> None:
    assert FACES.encode([]).shape == (0, 3)


def test_blanks_are_not_said() -> None:
    assert FACES.decode(torch.tensor([[0, 3, 1], [0, 0, 0]])) == ["smiling male", ""]


def test_what_is_encoded_comes_back() -> None:
    texts = ["male smiling", "bushy_eyebrows"]
    assert FACES.decode(FACES.encode(texts)) == texts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "The text '' is empty. Say a word at least. The words are: male, bushy_eyebrows, smiling."),
        (" - -", "The text ' - -' is empty."),
        ("male male male male", "has 4 words, but there is room for 3. Say less. The words are: male,"),
        ("male smilin", "In the text 'male smilin': Unknown word 'smilin'. Did you mean 'smiling'? "
         "Known: bushy_eyebrows, male, smiling."),
        ("a b c d e", "Unknown word 'a'"),
    ],
)  # fmt: skip
def test_a_text_that_cannot_be_said(text: str, message: str) -> None:
    with pytest.raises(PolymodalError) as caught:
        FACES.encode(["male", text])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("words", "length", "message"),
    [
        ((), 1, "must be the blank '-' and at least one more"),
        (("-",), 1, "at least one more"),
        (("a", "-"), 1, "must be the blank"),
        (("-", "a", "b", "a"), 1, "hold 'a' twice"),
        (("-", "two words"), 1, "'two words' is not one word"),
        (("-", "Male"), 1, "lower case"),
        (("-", "a"), 0, "1 word or more, and no more than the longest; found 1 and 0"),
    ],
)
def test_lists_that_are_no_words(words: tuple[str, ...], length: int, message: str) -> None:
    with pytest.raises(PolymodalError, match=message):
        Words(words=words, length=length)


def test_no_texts_make_no_words() -> None:
    with pytest.raises(PolymodalError, match=r"hold no word. Check the captions"):
        Words.of(["", "- -"])


def test_a_run_keeps_them_as_json() -> None:
    assert Words.from_json(json.loads(json.dumps(FACES.as_json()))) == FACES


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({}, "'length'"),
        ({"length": 1, "shortest": 1}, "'words'"),
        ([1], "list indices"),
        (None, "not subscriptable"),
        ({"words": ["-", 3], "length": 1, "shortest": 1}, "str"),
        ({"words": ["-", "a"], "length": "long"}, "'long'"),
        ({"words": ["a"], "length": 1, "shortest": 1}, "must be the blank"),
    ],
)
def test_broken_json_is_named(content: object, reason: str) -> None:
    with pytest.raises(PolymodalError, match="The words of a run cannot be read") as caught:
        Words.from_json(content)
    assert reason in str(caught.value)
    assert "Copy the whole run again" in str(caught.value)


def test_a_text_shorter_than_any_that_was_learned_from() -> None:
    words = Words.of(["red cube left sphere", "blue sphere right"])
    assert (words.length, words.shortest) == (4, 3)
    words.check("red cube left")
    with pytest.raises(
        PolymodalError, match=r"'red cube' has 2 words, .* has 3\. Say more\. The words"
    ):
        words.check("red cube")


def test_whoever_says_something_unknown_is_shown_a_text() -> None:
    words = Words.of(["red", "Large red cube", "small blue cube"])
    assert words.example == "Large red cube"
    for text in ("pink", "", "red red red red"):
        with pytest.raises(PolymodalError, match=r"A text is like 'Large red cube'\.$"):
            words.encode([text])
    kept = Words.from_json(words.as_json())
    assert kept.example == words.example
    old = {name: value for name, value in words.as_json().items() if name != "example"}
    assert Words.from_json(old) == words  # a run of before
