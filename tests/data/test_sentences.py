"""A text file as splits of captions alone."""

import pytest

from polymodal.base.errors import PolymodalError
from polymodal.data.folder import split_of
from polymodal.data.pairs import captions_of
from polymodal.data.sources import open_splits


def written(folder, *lines):
    path = folder / "said, 1.txt"
    path.write_text("\n".join(lines), "utf-8")
    return f"text:{path}"


def texts(split):
    return [text for own in captions_of(split) for text in own]


def test_a_sentence_a_line_divided_by_its_hash(tmp_path):
    lines = [f"  Sentence number {number}. " for number in range(40)]
    splits = open_splits(written(tmp_path, *lines, "", "  ", lines[3]))
    assert list(splits) == ["train", "val", "test"]
    assert sum(map(len, splits.values())) == 41
    for name, split in splits.items():
        assert {split_of(text) for text in texts(split)} == {name}
        assert list(split.columns) == ["captions"]
        assert len(set(split.ids)) == len(split)
    assert open_splits(written(tmp_path, *lines))["val"].fingerprint == splits["val"].fingerprint


def test_an_id_keeps_its_sentences_together_and_marks_are_left_out(tmp_path):
    lines = [
        f"{k % 9}\t[/EN#{k}/people/other Two men] sit on [/EN#0/notvisual it] ." for k in range(45)
    ]
    splits = open_splits(written(tmp_path, *lines))
    assert {text for split in splits.values() for text in texts(split)} == {"Two men sit on it ."}
    for name, split in splits.items():
        assert len(split) == 5 * sum(split_of(str(k)) == name for k in range(9))


def test_no_file_nothing_in_it_and_options(tmp_path):
    with pytest.raises(PolymodalError, match=r"no text file at .*nowhere\.txt"):
        open_splits(f"text:{tmp_path}/nowhere.txt")
    with pytest.raises(PolymodalError, match=r"has no sentence\. Write one a line"):
        open_splits(written(tmp_path, "", " \t "))
    with pytest.raises(PolymodalError, match="text: has no options, but size is given"):
        open_splits(f"{written(tmp_path, 'a dog')},size=3")
