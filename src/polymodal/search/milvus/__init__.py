"""Milvus, embedded in a file or a cluster by its URI: for an index whose vectors are searched elsewhere."""

from polymodal.search.milvus.rows import Rows
from polymodal.search.milvus.store import MilvusStore

__all__ = ["MilvusStore", "Rows"]
