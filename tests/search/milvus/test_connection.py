"""What can go wrong before a store is open, and that nothing stays behind when it is closed."""

import socket
import sys
import threading

import pytest
from milvus_lite import MilvusLite

from polymodal.base.errors import PolymodalError
from polymodal.search import Settings
from polymodal.search.milvus import MilvusStore
from stored import ABOUT, make_rows


def prepare(uri, **options):
    with MilvusStore(str(uri), **options) as store:
        store.prepare(ABOUT, (5,), "l2")


@pytest.mark.parametrize("uri", ["folder/store", "localhost:19530", ""])
def test_what_is_neither_a_file_nor_an_address(uri):
    with pytest.raises(PolymodalError, match=rf"file that ends in \.db, or an address .*'{uri}'"):
        MilvusStore(uri)


@pytest.mark.parametrize("name", ["../theirs", "a b", "9a", "", "é", "a" * 256])
def test_names_that_no_collection_has(name):
    with pytest.raises(PolymodalError, match="name of a collection has letters, digits and _ only"):
        MilvusStore("store.db", name)


@pytest.mark.parametrize("name", ["pymilvus", "milvus_lite"])
def test_a_missing_package_names_the_extra(path, monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        PolymodalError, match=rf"{name}, which .* pip install 'polymodal\[milvus\]'"
    ):
        prepare(path)


def test_nobody_at_the_address_and_no_password_in_the_message():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        uri = f"http://me:se/cr@t@127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(
        PolymodalError, match=r"it cannot be reached \(.*Check the address"
    ) as raised:
        prepare(uri, timeout=1.0)
    assert "http://…@127.0.0.1" in str(raised.value)
    assert "cr@t" not in str(raised.value)


def test_somebody_who_never_answers():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        uri = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(PolymodalError, match="it cannot be reached"):
            prepare(uri, timeout=0.5)


@pytest.mark.parametrize("uri", ["ftp://localhost", "http://localhost:port"])
def test_addresses_that_are_none(uri):
    with pytest.raises(PolymodalError, match=f"{uri}, .*it cannot be reached"):
        prepare(uri)


def test_files_and_folders_of_others_are_left_alone(tmp_path):
    file, folder = tmp_path / "file.db", tmp_path / "folder.db"
    file.write_text("mine")
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    for path in (file, folder):
        with pytest.raises(PolymodalError, match=rf"{path.name} is there, but is no Milvus store"):
            prepare(path)
    assert file.read_text() == "mine"
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
    with pytest.raises(PolymodalError, match=r"store\.db cannot be opened as a Milvus store: "):
        prepare(file / "store.db")


def test_a_file_in_use(path):
    other = MilvusLite(str(path))
    with pytest.raises(PolymodalError, match=r"in use: .* one process at a time\. Wait until"):
        prepare(path)
    other.close()
    prepare(path)


def test_folders_are_made_and_nothing_stays_behind(tmp_path):
    path = tmp_path / "a" / "b" / "store.db"
    before = set(threading.enumerate())
    with MilvusStore(str(path)) as store:
        store.prepare(ABOUT, (5,), "l2", Settings(kind="hnsw"))
        store.add([make_rows(8)], 8)
        assert len(set(threading.enumerate()) - before) > 0
    store.close()
    MilvusLite(str(path)).close()  # nobody holds its lock
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive()


def test_a_closed_store_says_so(path):
    store = MilvusStore(str(path))
    store.close()
    rows = make_rows(2)
    calls = (
        store.count,
        lambda: store.missing(["a"]),
        lambda: store.add([rows], 2),
        lambda: store.search(rows.vectors, 1),
    )
    for call in calls:
        with pytest.raises(PolymodalError, match=r"store\.db, .*Call prepare or open first"):
            call()


def test_an_embedded_milvus_that_starts_late_is_started_again_once(path, monkeypatch):
    import pymilvus

    tries, connect = [], pymilvus.MilvusClient

    def late(*uri, **options):
        tries.append(uri)
        if len(tries) == 1:
            raise pymilvus.MilvusException(message="connection refused")
        return connect(*uri, **options)

    monkeypatch.setattr(pymilvus, "MilvusClient", late)
    prepare(path)
    assert len(tries) == 2


def test_the_token_comes_from_the_environment(path, monkeypatch):
    import pymilvus

    given = []

    class Client:
        def __init__(self, uri, token, timeout):
            given.append((uri, token))
            raise pymilvus.MilvusException(message="no")

    monkeypatch.setattr(pymilvus, "MilvusClient", Client)
    monkeypatch.setenv("MILVUS_TOKEN", "secret")
    with pytest.raises(PolymodalError, match=r"it cannot be reached \(no\)"):
        prepare("https://cluster:19530")
    assert given == [("https://cluster:19530", "secret")]
