"""Words from training captions: order, unknown words, and a file that can be trusted."""

import time

import pytest

from polymodal.base.errors import PolymodalError
from polymodal.data.vocabulary import END, PAD, SPECIAL, START, UNK, Vocabulary, tokenize


def test_frequent_words_come_first_and_ties_by_alphabet() -> None:
    vocabulary = Vocabulary.of(["b a c", "c b", "d"])
    assert vocabulary.words == (*SPECIAL, "b", "c", "a", "d")
    assert vocabulary == Vocabulary.of(["d", "c b", "b a c"])


def test_rare_words_are_left_out() -> None:
    assert Vocabulary.of(["a a b"], min_count=2).words == (*SPECIAL, "a")


def test_a_word_that_training_never_saw_is_unknown() -> None:
    vocabulary = Vocabulary.of(["a dog"])
    assert vocabulary.encode("a zebra") == [START, 4, UNK, END]
    assert vocabulary.encode("") == [START, END]
    assert vocabulary.decode(vocabulary.encode("A zebra!")) == "a <unk>"


def test_no_caption_can_spell_a_special_word() -> None:
    vocabulary = Vocabulary.of(["<unk> <pad> <end>"])
    assert vocabulary.encode("<end>") == [START, vocabulary.words.index("end"), END]


def test_words_of_any_script() -> None:
    assert tokenize("Ein Käfer, 東京 — don’t stop_now") == [
        "ein",
        "käfer",
        "東京",
        "don't",
        "stop",
        "now",
    ]
    assert tokenize("Cafe\u0301") == tokenize("café")


def test_a_batch_is_padded_to_its_longest() -> None:
    tokens, lengths = Vocabulary.of(["a b c"]).encode_batch(["a", "a b c", ""])
    assert tokens.tolist() == [
        [START, 4, END, PAD, PAD],
        [START, 4, 5, 6, END],
        [START, END, PAD, PAD, PAD],
    ]
    assert lengths.tolist() == [3, 5, 2]


def test_no_texts_are_a_batch_too() -> None:
    tokens, lengths = Vocabulary.of(["a"]).encode_batch([])
    assert tuple(tokens.shape) == (0, 0)
    assert tuple(lengths.shape) == (0,)
    assert tokens.dtype == lengths.dtype
    assert str(tokens.dtype) == "torch.int64"


def test_no_words_make_no_vocabulary() -> None:
    with pytest.raises(PolymodalError, match="lower min_count"):
        Vocabulary.of(["a b"], min_count=2)


@pytest.mark.parametrize(("words", "message"), [
    (("a", *SPECIAL), r"must start with <pad>, <start>, <end>, <unk>\.$"),
    ((*SPECIAL, "a", "b", "a"), r"The vocabulary holds 'a' twice\.$"),
])  # fmt: skip
def test_a_list_that_is_no_vocabulary_is_refused(words, message) -> None:
    with pytest.raises(PolymodalError, match=message):
        Vocabulary(words)


def test_25_thousand_captions_take_no_time() -> None:
    texts = [f"a man number {i} rides a small moped on a dirt road" for i in range(25_000)]
    start = time.process_time()
    Vocabulary.of(texts).encode_batch(texts)
    assert time.process_time() - start < 3  # about 0.4 s; room for a busy machine
