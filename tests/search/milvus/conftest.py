"""A store in a file of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from polymodal.search.index_settings import EXACT
from polymodal.search.milvus import MilvusStore
from stored import ABOUT


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def prepared(path: Path) -> Iterator[Callable[..., MilvusStore]]:
    """Opens the store in the file, as often as asked; all are closed in the end."""
    stores = []

    def prepare(lifts=1, width=5, metric="inner product", settings=EXACT, **about):
        store = MilvusStore(str(path), timeout=5.0)
        stores.append(store)
        store.prepare({**ABOUT, **about}, (width,) * lifts, metric, settings)
        return store

    yield prepare
    for store in stores:
        store.close()
