"""Our own tokenizer: the words of the training captions alone."""

import pytest

from polymodal.base.errors import PolymodalError
from polymodal.data.word_tokenizer import SPECIAL, word_tokenizer


def test_every_word_and_mark_of_the_captions_the_commonest_first():
    tokenizer = word_tokenizer(["A dog.", "a cat's dog", "A CAFÉ"])
    words = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get)
    assert words == [*SPECIAL, "a", "dog", "'", ".", "café", "cat", "s"]
    found = tokenizer.encode("A Dog, café")
    assert found.tokens == ["[CLS]", "a", "dog", "[UNK]", "café", "[SEP]"]
    assert found.offsets[1:-1] == [(0, 1), (2, 5), (5, 6), (7, 11)]


def test_captions_without_words():
    with pytest.raises(PolymodalError, match="nothing to learn a language from"):
        word_tokenizer(["", "  "])
