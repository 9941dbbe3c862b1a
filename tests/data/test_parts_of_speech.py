"""Words, their places and their kinds, whatever stands between them."""

import pytest

from polymodal.data.parts_of_speech import words_of

KINDS = ["-", "noun", "adjective"]


def read(text):
    return [(text[start:end], KINDS[kind]) for start, end, kind in words_of([text])[0]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Two men in a large red van.",
            "Two/- men/noun in/- a/- large/adjective red/adjective van/noun",
        ),
        ("a dog’s hat isn't here", "a/- dog/noun ’s/- hat/noun is/- n't/- here/-"),
        ("Red cubes, and/or a red-haired girl!", "Red/adjective cubes/noun and/- or/- a/- "
         "red-haired/adjective girl/noun"),
        ("  ...  ", ""),
        ("", ""),
        ("a zorbl — 7 cats", "a/- zorbl/noun 7/- cats/noun"),
    ],
)  # fmt: skip
def test_kinds_of_words(text, expected):
    assert " ".join(map("/".join, read(text))) == expected


def test_texts_are_read_one_by_one():
    texts = ["Red cubes", "a dog"]
    assert words_of(texts) == [words_of([text])[0] for text in texts]
    assert words_of([]) == []
