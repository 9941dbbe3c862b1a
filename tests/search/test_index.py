"""What an index finds is what brute force finds, whoever asks and whatever searches."""

import sys

import pytest
import torch
from brute import CASES, LIFTED, brute, draw, of_kind
from memory import Largest

from clusters import clustered, numbered, recall, sides
from polymodal.base.errors import PolymodalError
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity import measure
from polymodal.search import Settings, build
from polymodal.search import index as module
from polymodal.search.facing import facing
from polymodal.search.index import check_settings

SIDES = ("image", "caption")
LIFTS = [case for case in CASES if case[0] in LIFTED]


def scores_of(name, side, items, queries):
    """Brute force, queries in rows."""
    if side == "image":
        return brute(name, items, queries).T
    return brute(name, queries, items)


def agree(found, expected, k):
    """Places and scores are those of brute force."""
    scores, places = found
    best = expected.topk(k)
    torch.testing.assert_close(scores.double(), best.values, rtol=1e-4, atol=1e-5)
    assert torch.equal(places, best.indices)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("name", "pair"), CASES)
def test_exact_search_is_brute_force(name, pair, side, monkeypatch):
    monkeypatch.setattr(module, "QUERIES", 3)  # several batches
    torch.manual_seed(0)
    items, queries = sides(pair, side, draw(40, 5), draw(7, 5))
    index = build(items, numbered(40), side=side, measure=name)
    agree(index.search(queries, 6), scores_of(name, side, items, queries), 6)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("name", "pair"), LIFTS)
def test_the_lifted_ranking_is_brute_force(name, pair, side):
    torch.manual_seed(0)
    items, queries = sides(pair, side, draw(40, 5, shift=1.0), draw(7, 5, shift=1.0))
    settings = Settings(kind="flat", oversample=1)  # not one more than the lifts rank first
    index = build(items, numbered(40), side=side, measure=name, settings=settings)
    agree(index.search(queries, 6), scores_of(name, side, items, queries), 6)


@pytest.mark.parametrize("kind", ["ivf", "hnsw"])
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("name", "pair"), LIFTS)
def test_lists_and_graphs_find_nearly_all(name, pair, side, kind):
    items, queries = sides(pair, side, clustered(3000), clustered(50, seed=1))
    settings = Settings(kind=kind, probes=16)
    exact = build(items, numbered(3000), side=side, measure=name)
    index = build(items, numbered(3000), side=side, measure=name, settings=settings)
    assert recall(index.search(queries)[1], exact.search(queries)[1]) > 0.95


@pytest.mark.parametrize("kind", ["flat", "hnsw"])
def test_candidates_are_scored_exactly(kind):
    items, queries = clustered(500), clustered(9, seed=1)
    index = build(
        items, numbered(500), side="image", measure="wasserstein", settings=Settings(kind=kind)
    )
    scores, places = index.search(queries, 5)
    expected = brute("wasserstein", items, queries).T.gather(1, places)
    torch.testing.assert_close(scores.double(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_list_that_leads_to_too_few_is_made_up_for(dtype):
    items, queries = clustered(300).to(dtype), clustered(9, seed=1)
    settings = Settings(kind="ivf", lists=100, probes=1)  # three items a list
    exact = build(items, numbered(300), side="image", measure="csd")
    index = build(items, numbered(300), side="image", measure="csd", settings=settings)
    short = (index.nearest.candidates(queries, 20) < 0).any(1)
    assert short.any()
    found, expected = index.search(queries, 20), exact.search(queries, 20)
    assert found[0].dtype == dtype
    torch.testing.assert_close(found[0][short], expected[0][short])
    assert (found[1] >= 0).all()


@pytest.mark.parametrize("kind", ["exact", "flat", "ivf", "hnsw"])
@pytest.mark.parametrize("split", ["val", "test"])  # a third of the items, and two thirds
def test_a_filter_leaves_only_what_passes(kind, split):
    items, queries = clustered(600), clustered(20, seed=1)
    settings = Settings(kind=kind, probes=16)
    index = build(items, numbered(600), side="image", measure="wasserstein", settings=settings)
    passes = torch.tensor([(i % 3 > 0) == (split == "test") for i in range(600)])
    expected = brute("wasserstein", items, queries).T.masked_fill(~passes, -torch.inf)
    _, places = index.search(queries, 5, where={"split": split})
    assert passes[places].all()
    assert recall(places, expected.topk(5).indices) > 0.95


def test_a_filtered_search_is_exact_where_few_pass():
    items, queries = clustered(600), clustered(20, seed=1)
    index = build(
        items,
        numbered(600),
        side="image",
        measure="kl",
        settings=Settings(kind="hnsw", effort=1),
    )
    chosen = torch.arange(0, 600, 3)
    expected = brute("kl", items[chosen], queries).T
    _, places = index.search(queries, 4, where={"split": "val"})
    assert torch.equal(places, chosen[expected.topk(4).indices])


@pytest.mark.parametrize(("name", "pair"), CASES)
def test_items_of_one_side_find_each_other(name, pair):
    torch.manual_seed(3)
    for side, kind in zip(SIDES, pair, strict=True):
        items = of_kind(draw(30, 4), kind)
        index = build(items, numbered(30), side=side, measure=name)
        _, places = index.search(items, 3, side=side)
        if name != "csd":  # where a wide Gaussian is farther from itself than from a narrow one
            assert places[:, 0].tolist() == list(range(30))


def test_under_kl_an_image_that_asks_counts_as_a_caption():
    torch.manual_seed(3)
    items, queries = draw(9, 4), draw(2, 4)
    scores, _ = build(items, numbered(9), side="image", measure="kl").search(
        queries, 9, side="image"
    )
    expected = torch.stack([-items.kl(queries[row]) for row in range(2)])
    torch.testing.assert_close(scores, expected.sort(descending=True).values)


@pytest.mark.parametrize("kind", ["exact", "flat"])
def test_mahalanobis_of_one_side_is_euclidean_or_by_the_mean(kind):
    torch.manual_seed(4)
    gaussians, asking = draw(12, 4), draw(3, 4)
    how = {"measure": "mahalanobis", "side": "image", "settings": Settings(kind=kind)}
    points = build(gaussians.mean, numbered(12), **how)
    found, _ = points.search(asking.mean, 12, side="image")
    distance = torch.cdist(asking.mean, gaussians.mean).sort().values
    torch.testing.assert_close(found.double(), -distance, rtol=1e-4, atol=1e-5)
    wide = build(gaussians, numbered(12), **how)
    found, _ = wide.search(asking, 12, side="image")
    shift = asking.mean[:, None] - gaussians.mean
    distance = (shift.square() / gaussians.var).sum(-1).sqrt().sort().values
    torch.testing.assert_close(found.double(), -distance, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("where", [None, {"split": "val"}])
@pytest.mark.parametrize("count", [2000, 4000])
def test_memory_is_bounded_whatever_the_number_of_items(count, where, monkeypatch):
    monkeypatch.setattr(module, "BYTES", 2**14)  # 128 items of d 16, lifted to 2d numbers
    index = build(clustered(count), numbered(count), side="image", measure="wasserstein")
    queries = clustered(8, seed=1)
    with Largest() as largest:
        index.search(queries, 5, where)
    assert largest.numbers <= 128 * 2 * 16


def test_an_index_is_searched_as_widely_as_asked():
    items, queries = clustered(3000), clustered(50, seed=1)
    how = {"side": "image", "measure": "wasserstein"}
    truth = build(items, numbered(3000), **how).search(queries)[1]
    for settings, wide in (
        (Settings(kind="ivf", probes=1, oversample=1), {"probes": 64}),
        (Settings(kind="hnsw", links=4, effort=1, oversample=1), {"effort": 256}),
        (Settings(kind="hnsw", links=4, effort=1, oversample=1), {"oversample": 25}),
    ):
        index = build(items, numbered(3000), **how, settings=settings)
        assert index.tuned() is index
        wider = index.tuned(**wide)
        few, most = recall(index.search(queries)[1], truth), recall(wider.search(queries)[1], truth)
        assert few < 0.95 < most
        assert index.settings == settings
    with pytest.raises(PolymodalError, match="probes must be 1 or more, not 0"):
        index.tuned(probes=0)


def test_queries_that_fit_stay_as_they_are():
    items, queries = draw(4, 3), draw(2, 3)
    assert facing("wasserstein", queries, items) is queries
    assert facing("mahalanobis", queries.mean, items) is not queries
    assert isinstance(facing("mahalanobis", queries.mean, items.mean), DiagonalGaussian)


@pytest.mark.parametrize("kind", ["exact", "flat", "hnsw"])
def test_none_asked_and_one_item(kind):
    settings = Settings(kind=kind)
    index = build(torch.ones(1, 2), numbered(1), side="image", measure="cosine", settings=settings)
    scores, places = index.search(torch.ones(0, 2))
    assert scores.shape == places.shape == (0, 1)
    assert index.search(torch.ones(1, 2))[1].tolist() == [[0]]


def test_ten_hits_are_usual():
    index = build(torch.randn(12, 2), numbered(12), side="image", measure="cosine")
    assert index.search(torch.ones(1, 2))[1].shape == (1, 10)
    assert index.search(torch.ones(1, 2), where={"split": "val"})[1].shape == (1, 4)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"k": 0}, "k must be 1 or more, not 0"),
        *(({"k": k}, f"k is a whole number, .* not {k!r}") for k in (2.5, "3", True)),
        ({"k": 13}, r"k is 13, but the index has 12 items\. Ask for 12 at the most"),
        ({"k": 5, "where": {"split": "val"}}, "the index has 4 items with split=val"),
        ({"where": {"splt": "val"}}, "'splt'. Did you mean 'split'"),
        (
            {"where": "split=val"},
            r"where gives values by name, as {'split': 'test'}, not 'split=val'",
        ),
        ({"where": {"split": "train"}}, r"No item has split=train \(there are: test, val\)"),
        ({"side": "sound"}, "Unknown side 'sound'"),
        (
            {"queries": torch.ones(1, 3)},
            r"width 2, so queries come as m×2; found the shape \(1, 3\)",
        ),
        ({"queries": torch.ones(2)}, r"found the shape \(2,\)"),
        ({"queries": torch.tensor([[0.0, torch.nan]])}, "Query 0 is not finite"),
        (
            {"queries": DiagonalGaussian(torch.ones(1, 2), torch.ones(1, 2))},
            "cosine compares point",
        ),
    ],
)
def test_what_cannot_be_asked(asked, message):
    index = build(torch.randn(12, 2), numbered(12), side="image", measure="cosine")
    with pytest.raises(PolymodalError, match=message):
        index.search(**{"queries": torch.ones(1, 2)} | asked)


def test_what_cannot_be_indexed():
    bad = torch.ones(3, 2)
    bad[1, 0] = torch.inf
    how = {"side": "image", "measure": "cosine"}
    with pytest.raises(PolymodalError, match="embedding of '1' is not finite"):
        build(bad, numbered(3), **how)
    with pytest.raises(PolymodalError, match="found 3 embeddings and 2 items"):
        build(torch.ones(3, 2), numbered(2), **how)
    with pytest.raises(PolymodalError, match="found 0 embeddings and 0 items"):
        build(torch.ones(0, 2), numbered(0), **how)
    with pytest.raises(PolymodalError, match="cosine compares point images"):
        build(draw(3, 2), numbered(3), **how)
    with pytest.raises(PolymodalError, match="Unknown side 'images'"):
        build(torch.ones(3, 2), numbered(3), side="images", measure="cosine")
    with pytest.raises(PolymodalError, match="bhattacharyya is no inner product"):
        build(draw(3, 2), numbered(3), side="image", measure="bhattacharyya",
              settings=Settings(kind="hnsw"))  # fmt: skip


def test_settings_are_checked():
    with pytest.raises(PolymodalError, match=r"A store is milvus:FILE\.db"):
        Settings(store="redis:x")
    with pytest.raises(PolymodalError, match="must hold no password"):
        Settings(store="milvus:http://me:secret@host:19530")
    with pytest.raises(PolymodalError, match="no ivf here"):
        Settings(store="milvus:a.db", kind="ivf")


def test_a_half_precision_query_finds_the_same():
    items, queries = clustered(50), clustered(4, seed=1)
    index = build(items, numbered(50), side="image", measure="wasserstein")
    half = DiagonalGaussian(queries.mean.bfloat16(), queries.log_var.bfloat16())
    expected = measure("wasserstein")(items, half).T.topk(3).indices
    assert torch.equal(index.search(half, 3)[1], expected)


def test_what_could_not_be_built_is_said_before(tmp_path, monkeypatch):
    check_settings("bhattacharyya", Settings())
    check_settings("csd", Settings(kind="hnsw"))
    with pytest.raises(PolymodalError, match=r"bhattacharyya is no .*Choose --kind exact\.$"):
        check_settings("bhattacharyya", Settings(kind="flat"))
    with pytest.raises(PolymodalError, match=r"Choose --kind exact, without --store\.$"):
        check_settings("bhattacharyya", Settings(store="milvus:a.db"))
    with pytest.raises(PolymodalError, match=r"ends in \.db, or an address .*'vectors'"):
        check_settings("csd", Settings(store="milvus:vectors"))
    (tmp_path / "mine.db").write_text("mine")
    pytest.importorskip("milvus_lite", reason="polymodal[milvus] is absent")
    with pytest.raises(PolymodalError, match="is there, but is no Milvus store"):
        check_settings("csd", Settings(store=f"milvus:{tmp_path / 'mine.db'}"))
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    with pytest.raises(PolymodalError, match="needs the package pymilvus"):
        check_settings("csd", Settings(store=f"milvus:{tmp_path / 'a.db'}"))
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(PolymodalError, match="pip install faiss-cpu"):
        check_settings("csd", Settings(kind="ivf"))
