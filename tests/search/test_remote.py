"""An index whose vectors are in Milvus: the same hits, filtered, resumed, refused when it is another's."""

from dataclasses import replace

import pytest
import torch
from brute import brute

from clusters import clustered, numbered
from polymodal.base.errors import PolymodalError
from polymodal.search import Items, Settings, build, open_index, remote, save
from polymodal.search.milvus import MilvusStore
from polymodal.search.remote import settled, store_named

pytest.importorskip("milvus_lite", reason="polymodal[milvus] is absent")


@pytest.mark.parametrize(
    ("kind", "name"),
    [("exact", "min_kl"), ("hnsw", "min_kl"), ("hnsw", "kl"), ("flat", "wasserstein")],
)
def test_milvus_finds_what_brute_force_finds(tmp_path, kind, name):
    items, queries = clustered(120), clustered(5, seed=1)
    settings = Settings(kind=kind, store=f"milvus:{tmp_path / 'a.db'}", oversample=1)
    expected = brute(name, items, queries).T
    told = []
    with build(items, numbered(120), side="image", measure=name, settings=settings,
               advance=told.append) as index:  # fmt: skip
        assert torch.equal(index.search(queries, 4)[1], expected.topk(4).indices)
        save(index, tmp_path / "index")
    assert sum(told) == 120
    assert sorted(path.name for path in (tmp_path / "index").iterdir()) == [
        "embeddings.safetensors",
        "index.json",
        "items.jsonl",
        "lifts.safetensors",
    ]
    val = torch.arange(120) % 3 == 0
    with open_index(tmp_path / "index") as index:
        scores, places = index.search(queries, 4)
        assert torch.equal(places, expected.topk(4).indices)
        torch.testing.assert_close(scores.double(), expected.topk(4).values, rtol=1e-4, atol=1e-4)
        few = index.search(queries, 4, where={"split": "val"})[1]
        most = index.search(queries, 4, where={"split": "test"})[1]
    assert torch.equal(few, expected.masked_fill(~val, -torch.inf).topk(4).indices)
    assert torch.equal(most, expected.masked_fill(val, -torch.inf).topk(4).indices)


def test_a_store_of_other_items_is_refused(tmp_path):
    how = {
        "side": "image",
        "measure": "csd",
        "settings": Settings(store=f"milvus:{tmp_path / 'a.db'}"),
    }
    with build(clustered(30), numbered(30), **how) as index:
        save(index, tmp_path / "index")
    other = Items.of(replace(item, metadata={"split": "train"}) for item in numbered(30))
    for given in ((clustered(31), numbered(31)), (clustered(30), other)):
        with pytest.raises(PolymodalError, match="made with something else: items is"):
            build(*given, **how)
    with build(clustered(30), numbered(30), **how) as again:  # but its own go on
        assert again.search(clustered(1, seed=1), 3)[1].shape == (1, 3)


def test_an_index_of_another_precision_is_opened(tmp_path):
    settings = Settings(kind="hnsw", store=f"milvus:{tmp_path / 'a.db'}")
    items, queries = clustered(60).to(torch.float64), clustered(3, seed=1)
    how = {"side": "image", "measure": "kl", "settings": settings}
    with build(items, numbered(60), **how) as index:
        expected = index.search(queries, 4)[1]
        save(index, tmp_path / "index")
    with open_index(tmp_path / "index") as index:
        assert torch.equal(index.search(queries, 4)[1], expected)
    build(items.to(torch.float32), numbered(60), **how).close()


def test_opening_reads_what_the_collection_was_made_with(tmp_path, monkeypatch):
    settings = Settings(store=f"milvus:{tmp_path / 'a.db'}")
    with build(
        clustered(30), numbered(30), side="image", measure="csd", settings=settings
    ) as index:
        save(index, tmp_path / "index")
    monkeypatch.delattr(remote, "fingerprint")  # which takes long, for many items
    again = open_index(tmp_path / "index")
    assert again.nearest.about == index.nearest.about


@pytest.mark.parametrize("where", [{"flag": None}, {"tags": ["a"]}, {"flag": None, "tags": ["a"]}])
def test_filters_of_any_value(tmp_path, where):
    # None and "None" are one text, in Milvus too
    told = [
        {"flag": 1, "tags": []},
        *({"flag": flag, "tags": ["a"]} for flag in (None, "None", None)),
    ]
    items = Items.of(
        replace(item, metadata=told[place % 4]) for place, item in enumerate(numbered(40))
    )
    settings = Settings(store=f"milvus:{tmp_path / 'a.db'}")
    gaussians, queries = clustered(40), clustered(3, seed=1)
    passes = torch.arange(40) % 4 > 0
    expected = brute("csd", gaussians, queries).T.masked_fill(~passes, -torch.inf)
    with build(gaussians, items, side="image", measure="csd", settings=settings) as index:
        assert torch.equal(index.search(queries, 4, where)[1], expected.topk(4).indices)


def test_the_effort_may_be_chosen_when_it_is_searched(tmp_path, monkeypatch):
    settings = Settings(kind="hnsw", store=f"milvus:{tmp_path / 'a.db'}", effort=77, oversample=2)
    asked, search = [], MilvusStore.search

    def noting(self, vectors, k, where=None, effort=0):
        asked.append((k, effort))
        return search(self, vectors, k, where, effort)

    monkeypatch.setattr(MilvusStore, "search", noting)
    with build(
        clustered(30), numbered(30), side="image", measure="csd", settings=settings
    ) as index:
        index.search(clustered(1, seed=1), 3)
        index.tuned(effort=9, oversample=3).search(clustered(1, seed=1), 3)
    assert asked == [(6, 77), (9, 9)]


def test_more_hits_than_milvus_gives(tmp_path, monkeypatch):
    monkeypatch.setattr(remote, "MOST", 8)
    items, queries = clustered(30), clustered(2, seed=1)
    settings = Settings(store=f"milvus:{tmp_path / 'a.db'}")
    with build(items, numbered(30), side="image", measure="csd", settings=settings) as index:
        assert torch.equal(
            index.search(queries, 20)[1], brute("csd", items, queries).T.topk(20).indices
        )


def test_a_store_that_is_gone(tmp_path):
    settings = Settings(store=f"milvus:{tmp_path / 'a.db'}")
    with build(
        clustered(30), numbered(30), side="image", measure="csd", settings=settings
    ) as index:
        save(index, tmp_path / "index")
    (tmp_path / "a.db").rename(tmp_path / "b.db")
    with (
        open_index(tmp_path / "index") as index,
        pytest.raises(PolymodalError, match=r"there is none\. Build the index first"),
    ):
        index.search(clustered(1, seed=1), 3)


def test_names_of_stores(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert settled("milvus:a.db#photos") == f"milvus:{tmp_path}/a.db#photos"
    assert store_named("milvus:http://host:1#photos").line.collection == "photos"
    assert store_named("milvus:http://host:1").line.collection == "polymodal"
    assert store_named("milvus:http://host:1").line.uri == "http://host:1"
