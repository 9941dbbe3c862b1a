"""Tokens are those of the tokenizer that they were made from."""

import json
import pickle

import pytest
import torch

from backbones import LONGEST, WORDS, write_tokenizer
from polymodal.data.tokens import Tokens

TEXTS = ["a red square at the left", "something blue", "a white square", ""]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizer")
    write_tokenizer(folder)
    return folder


@pytest.fixture(scope="module")
def tokens(folder):
    return Tokens(tokenizer=(folder / "tokenizer.json").read_text(), pad=0, longest=LONGEST)


def test_they_are_transformers_own(folder, tokens):
    from transformers import AutoTokenizer

    own = AutoTokenizer.from_pretrained(folder)(TEXTS, padding=True, return_tensors="pt")
    found, lengths = tokens.encode_batch(TEXTS)
    assert torch.equal(found, own["input_ids"])
    assert torch.equal(lengths, own["attention_mask"].sum(1))
    assert WORDS.index("<unk>") in found[2]  # 'white'


def test_long_texts_are_cut_off(tokens):
    found, lengths = tokens.encode_batch(["red " * 50, "red"])
    assert found.shape == (2, LONGEST)
    assert lengths.tolist() == [LONGEST, 3]
    assert found[0, -1] == WORDS.index("<end>")


def test_siglip_reads_the_padding_too(tokens):
    whole = Tokens(tokenizer=tokens.tokenizer, pad=0, longest=LONGEST, whole=True)
    found, lengths = whole.encode_batch(["red", "a red square"])
    assert found.shape == (2, LONGEST)
    assert lengths.tolist() == [LONGEST, LONGEST]


def test_no_texts_and_none_without_a_token(tokens):
    assert tokens.encode_batch([])[0].shape == (0, 0)
    content = json.loads(tokens.tokenizer) | {"post_processor": None}  # adds no start and end
    bare = Tokens(tokenizer=json.dumps(content), pad=0, longest=LONGEST)
    found, lengths = bare.encode_batch([""])
    assert (found.tolist(), lengths.tolist()) == ([[0]], [1])


def test_they_are_what_they_say(tokens):
    """Equal ones are equal, before and after they were used, and elsewhere too."""
    again = pickle.loads(pickle.dumps(tokens))
    assert again == tokens
    assert again != Tokens(tokenizer=tokens.tokenizer, pad=1, longest=LONGEST)
    assert torch.equal(again.encode_batch(TEXTS)[0], tokens.encode_batch(TEXTS)[0])
