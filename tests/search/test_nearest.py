"""FAISS: taught by some of the items, a block at a time, and missed with a message."""

import sys

import pytest
import torch
from memory import Largest

from clusters import clustered, numbered, recall
from polymodal.base.errors import PolymodalError
from polymodal.search import Settings, build, lifts, nearest


def test_lists_are_learned_from_blocks_of_some_items(monkeypatch):
    monkeypatch.setattr(lifts, "BYTES", 2**13)  # 60 items of d 16, lifted to 2d numbers
    items, settings = clustered(1900), Settings(kind="ivf", lists=20)
    taught, empty = [], nearest.empty
    monkeypatch.setattr(
        nearest, "empty", lambda sample, *how: taught.append(len(sample)) or empty(sample, *how)
    )
    with Largest() as largest:
        found = nearest.build_nearest("wasserstein", items, "image", settings)
    assert taught == [20 * 64]
    assert largest.numbers <= 60 * 2 * 16
    assert recall(found.candidates(items[:50], 1), torch.arange(50)[:, None]) == 1


def test_faiss_that_is_absent(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(PolymodalError, match="pip install faiss-cpu"):
        build(torch.eye(3), numbered(3), side="image", measure="cosine",
              settings=Settings(kind="flat"))  # fmt: skip
