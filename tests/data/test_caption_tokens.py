"""Tokens with their characters, words and kinds, for a tokenizer by words and one by pieces of them."""

import json

import pytest
import torch

from polymodal.data.caption_tokens import read_captions
from polymodal.data.parts_of_speech import ADJECTIVE, NOUN
from polymodal.data.tokens import Tokens
from polymodal.nn.language_models import small_language_model

TEXTS = ["A red cube, and two Spheres.", "a cube"]


@pytest.fixture(scope="module")
def small():
    return small_language_model(TEXTS, width=8, layers=1, heads=2)


def pieces():
    """A tokenizer that cuts 'cube' and 'spheres' in two, as BERT does rare words."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    names = ["[PAD]", "[UNK]", "[MASK]", "a", "red", "cu", "##be", "two", "sphere", "##s", ","]
    numbers = {name: number for number, name in enumerate(names)}
    made = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = (
        normalizers.BertNormalizer(),
        pre_tokenizers.BertPreTokenizer(),
    )
    made.add_special_tokens(names[:3])
    named = {"pad": 0, "unknown": 1, "mask": 2, "special": [0, 1, 2]}
    return {"tokenizer": made.to_str(), "longest": 6, "whole": False, **named}


def seen(found, text, row):
    """Each token's characters, word and kind."""
    there = range(int(found.lengths[row]))
    return [
        (text[found.starts[row, k] : found.ends[row, k]], *(int(c[row, k]) for c in columns))
        for k in there
        for columns in [(found.words, found.kinds)]
    ]


def test_words_are_found_at_their_characters(small):
    found = read_captions(TEXTS, small)
    assert seen(found, TEXTS[0], 0) == [
        ("", -1, 0), ("A", 0, 0), ("red", 1, ADJECTIVE), ("cube", 2, NOUN), (",", -1, 0),
        ("and", 3, 0), ("two", 4, 0), ("Spheres", 5, NOUN), (".", -1, 0), ("", -1, 0),
    ]  # fmt: skip
    assert seen(found, TEXTS[1], 1) == [("", -1, 0), ("a", 0, 0), ("cube", 1, NOUN), ("", -1, 0)]


def test_padding_is_of_no_word_and_no_kind(small):
    found = read_captions(TEXTS, small)
    for column, fill in zip(
        (found.tokens, found.starts, found.ends, found.kinds, found.words),
        (small["pad"], 0, 0, 0, -1),
        strict=True,
    ):
        assert column.shape == (2, 10)
        assert (column[1, 4:] == fill).all()


def test_the_tokens_are_those_of_the_tokenizer(small):
    tokens, lengths = Tokens.of(small).encode_batch(TEXTS)
    found = read_captions(TEXTS, small)
    assert torch.equal(found.tokens, tokens)
    assert torch.equal(found.lengths, lengths)


def test_pieces_share_their_word_and_long_texts_are_cut():
    text = "red cube, two spheres"
    found = read_captions([text], pieces())
    assert seen(found, text, 0) == [
        ("red", 0, ADJECTIVE), ("cu", 1, NOUN), ("be", 1, NOUN), (",", -1, 0),
        ("two", 2, 0), ("sphere", 3, NOUN),
    ]  # fmt: skip


def test_an_unknown_word_is_a_word_and_a_spelt_mask_is_none(small):
    text = "a zebra [MASK]"
    found = read_captions([text], small)
    assert seen(found, text, 0)[2:4] == [("zebra", 1, NOUN), ("[MASK]", -1, 0)]
    assert found.tokens[0, 2] == small["unknown"]
    assert found.tokens[0, 3] == small["mask"]


def test_no_captions_and_an_empty_one(small):
    assert read_captions([], small).tokens.shape == (0, 0)
    assert read_captions([""], small).words.tolist() == [[-1, -1]]


def test_a_description_survives_json(small):
    found = read_captions(TEXTS, json.loads(json.dumps(small)))
    assert torch.equal(found.words, read_captions(TEXTS, small).words)
