"""Indexes of runs: where a trained model, its data and an index meet."""

from polymodal.indexing.asking import ask_index, write_page
from polymodal.indexing.building import index_run

__all__ = ["ask_index", "index_run", "write_page"]
