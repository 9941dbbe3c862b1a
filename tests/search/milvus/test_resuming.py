"""A line that breaks, a batch that is half written and a kill lose nothing and duplicate nothing."""

import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
from pymilvus import MilvusException

from polymodal.base.errors import PolymodalError
from polymodal.search.milvus import MilvusStore
from polymodal.search.milvus.store import PAUSES
from stored import ABOUT, make_rows

ROWS = make_rows(20)


@pytest.fixture
def pauses(monkeypatch):
    """The pauses that were made, none of which was waited for."""
    made = []
    clock = SimpleNamespace(sleep=made.append)
    monkeypatch.setattr("polymodal.search.milvus.store.time", clock)
    return made


def breaking(store, when, half=False):
    """Make some calls of the client's upsert fail, first storing half of the batch if so asked."""
    real, sent = store.line.client.upsert, []

    def upsert(collection, data, **options):
        sent.append([row["id"] for row in data])
        if len(sent) in when:
            if half:
                real(collection, data=data[: len(data) // 2], **options)
            raise MilvusException(message="the line\nis down")
        return real(collection, data=data, **options)

    store.line.client.upsert = upsert
    return sent


def everything(store):
    """All that is stored, in the order of the ids."""
    rows = store.line.ask("query", limit=100, output_fields=["id", "metadata", "lift0"])
    return store.count(), sorted((row["id"], row["metadata"], row["lift0"]) for row in rows)


@pytest.fixture
def whole(tmp_path):
    """What one insertion that nothing disturbs leaves."""
    with MilvusStore(str(tmp_path / "whole.db")) as store:
        store.prepare(ABOUT, (5,), "inner product")
        store.add(ROWS.parts(4), 20)
        return everything(store)


@pytest.mark.parametrize("half", [False, True])
def test_a_batch_that_fails_is_sent_again(prepared, pauses, whole, half):
    store = prepared()
    sent = breaking(store, when={3, 4}, half=half)
    store.add(ROWS.parts(4), 20)
    assert pauses == list(PAUSES[:2])
    assert pauses == sorted(set(pauses))  # ever longer
    assert len(sent) == 5 + 2
    assert everything(store) == whole


@pytest.mark.parametrize("half", [False, True])
def test_after_too_many_failures_the_same_call_goes_on(prepared, pauses, whole, half):
    store, told = prepared(), []
    breaking(store, when=range(3, 99), half=half)
    with pytest.raises(
        PolymodalError,
        match=r"store\.db, collection 'polymodal': upsert failed \(the line is down\)\. "
        r"8 of 20 rows are stored\. When Milvus is there again, give the same command: it goes on",
    ):
        store.add(ROWS.parts(4), 20, told.append)
    assert pauses == list(PAUSES)
    assert told == [4, 4]
    store.close()

    store = prepared()
    there = store.count()
    assert there == (12 - 1 if half else 8)  # of the third batch 2 came, then 1, then none of 1
    sent = breaking(store, when=())
    store.add(ROWS.parts(4), 20, told.append)
    assert sum(map(len, sent)) == 20 - there
    assert told == [4, 4, 4, 4, 4, 4, 4]
    assert everything(store) == whole


def test_a_line_that_really_breaks(path, monkeypatch, whole):
    from milvus_lite import server_manager_instance

    monkeypatch.setattr("polymodal.search.milvus.store.PAUSES", (0.01,))
    with MilvusStore(str(path), timeout=0.3) as store:
        store.prepare(ABOUT, (5,), "inner product")

        def stop(count):
            server_manager_instance.release_server(str(path))

        with pytest.raises(PolymodalError, match=r"query failed \(.*\)\. 4 of 20 rows are stored"):
            store.add(ROWS.parts(4), 20, stop)
    with MilvusStore(str(path)) as store:
        store.prepare(ABOUT, (5,), "inner product")
        assert store.count() == 4
        store.add(ROWS.parts(4), 20)
        assert everything(store) == whole


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
from stored import ABOUT, make_rows
from polymodal.search.milvus import MilvusStore
store, done = MilvusStore(sys.argv[1]), []
store.prepare(ABOUT, (5,), "inner product")
def advance(count):
    done.append(count)
    if len(done) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
store.add(make_rows(20).parts(4), 20, advance)
"""


def test_a_kill_loses_nothing(prepared, path, whole, pytestconfig):
    tests = str(pytestconfig.rootpath / "tests")
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path), tests], env=os.environ)
    assert killed.returncode == -signal.SIGKILL
    store = prepared()
    assert store.count() == 12
    store.add(ROWS.parts(4), 20)
    assert everything(store) == whole


def test_a_kill_between_the_making_and_the_index_is_mended(prepared, monkeypatch, whole):
    def die(self, facts, names):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(MilvusStore, "_indexes", die)
        prepared()
    store = prepared()
    store.add(ROWS.parts(4), 20)
    assert everything(store) == whole
