"""Images with their reports and findings, by the batch."""

import torch

from polymodal.data.batches import ColumnExamples, Field, Held, batch_of, field_of
from polymodal.data.pairs import Padded
from polymodal.data.records import Dataset
from polymodal.data.vocabulary import Vocabulary


def reports_of(dataset: Dataset) -> list[str]:
    """The report of each item; empty where it has none, or one without a word."""
    return [str(text or "").strip() for text in dataset.column("text", "Reading reports")]


def report_examples(
    dataset: Dataset, vocabulary: Vocabulary | None, most_words: int
) -> ColumnExamples:
    """Examples of images, of what is true of them, and with a vocabulary of their reports.

    A batch has `tokens` and `lengths`, and `text_present`: whether there is a report with a word.
    """
    fields: dict[str, Field] = {}
    for name in ("image", "targets"):
        fields[name] = field_of(dataset, name, "Classification")
        present = dataset.columns[name].present
        if present is not None:
            fields[f"{name}_present"] = Held(torch.from_numpy(present))
    if vocabulary is not None:
        texts = reports_of(dataset)
        tokens, lengths = vocabulary.encode_batch(texts)
        tokens, lengths = tokens[:, :most_words].contiguous(), lengths.clamp(max=most_words)
        fields["tokens"] = Padded(tokens, lengths.numpy())
        fields["lengths"] = Held(lengths)
        # a start and an end are all that an empty text has
        fields["text_present"] = Held(lengths > 2)
    found = ColumnExamples(dataset, fields)
    found.kind = batch_of(tuple(fields))
    return found
