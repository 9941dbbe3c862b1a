"""Datasets by name: embedded worlds, drawn sets, folders of your own."""

from polymodal.data.records import Caption, Dataset, Phrase, Record, Scene, Thing
from polymodal.data.sources import open_splits

__all__ = ["Caption", "Dataset", "Phrase", "Record", "Scene", "Thing", "open_splits"]
