"""Lifted vectors in Milvus, embedded in a file or a cluster by its URI: for an index that outgrew memory."""

from polymodal.search.milvus.rows import Found, Rows
from polymodal.search.milvus.store import Graph, MilvusStore

__all__ = ["Found", "Graph", "MilvusStore", "Rows"]
