"""The tokenizer of our own language model: words and marks of punctuation, in lower case."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from polymodal.base.errors import PolymodalError
from polymodal.data.word_lists import by_frequency

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
"""Its first tokens; the number of a token is its place."""


def word_tokenizer(captions: Iterable[str]) -> Any:
    """A tokenizer of `tokenizers` over all words of some captions, the commonest first.

    >>> word_tokenizer(["A red dog.", "a Dog"]).encode("A dog's [MASK]").tokens
    ['[CLS]', 'a', 'dog', '[UNK]', '[UNK]', '[MASK]', '[SEP]']
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    lower = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    split = pre_tokenizers.BertPreTokenizer()
    texts = map(lower.normalize_str, captions)
    counts = Counter(word for text in texts for word, _ in split.pre_tokenize_str(text))
    if not counts:
        raise PolymodalError(
            "The training captions have no words: there is nothing to learn a language from."
        )
    numbers = {word: number for number, word in enumerate([*SPECIAL, *by_frequency(counts)])}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = lower, split
    ends = [(mark, numbers[mark]) for mark in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=ends
    )
    tokenizer.add_special_tokens(list(SPECIAL))
    return tokenizer
