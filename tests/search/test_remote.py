"""An index whose vectors are in Milvus: the same hits, filtered, resumed, refused when it is another's."""

import pytest
import torch
from brute import brute

from clusters import clustered, numbered
from polymodal.errors import PolymodalError
from polymodal.search import Settings, build, open_index, remote, save
from polymodal.search.remote import named, settled

pytest.importorskip("milvus_lite", reason="polymodal[milvus] is absent")


@pytest.mark.parametrize(
    ("kind", "name"), [("exact", "min_kl"), ("hnsw", "kl"), ("flat", "wasserstein")]
)
def test_milvus_finds_what_brute_force_finds(tmp_path, kind, name):
    items, queries = clustered(120), clustered(5, seed=1)
    settings = Settings(kind=kind, store=f"milvus:{tmp_path / 'a.db'}")
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
    with pytest.raises(PolymodalError, match="made with something else: items is"):
        build(clustered(31), numbered(31), **how)
    with build(clustered(30), numbered(30), **how) as again:  # but its own go on
        assert again.search(clustered(1, seed=1), 3)[1].shape == (1, 3)


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
    assert named("milvus:http://host:1#photos").line.collection == "photos"
    assert named("milvus:http://host:1").line.collection == "polymodal"
    assert named("milvus:http://host:1").line.uri == "http://host:1"
