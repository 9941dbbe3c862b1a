"""Datasets by name: embedded worlds, drawn sets, folders of your own."""

import importlib
from typing import Any

from polymodal.data.columns import Each, Labels, Read, Stored
from polymodal.data.records import Caption, Dataset, Phrase, Record, Region
from polymodal.data.sources import open_splits

__all__ = [
    "Caption",
    "Dataset",
    "Each",
    "Labels",
    "Phrase",
    "Read",
    "Record",
    "Region",
    "Stored",
    "open_splits",
]

WORLDS = {
    "worlds": "polymodal.data.drawn.scenes",
    "birds": "polymodal.data.drawn.birds",
    "phantoms": "polymodal.data.drawn.phantoms",
    "xrays": "polymodal.data.drawn.xrays",
}


def __getattr__(name: str) -> Any:
    """`from polymodal.data import worlds`, `birds` and others: brought in when they are asked for."""
    if name in WORLDS:
        return importlib.import_module(WORLDS[name])
    raise AttributeError(f"module 'polymodal.data' has no attribute {name!r}")
