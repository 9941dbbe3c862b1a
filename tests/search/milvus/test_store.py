"""What a store finds is what brute force finds, in a file that is closed and opened again."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from brute import both, brute
from pymilvus import MilvusClient

from polymodal.base.errors import PolymodalError
from polymodal.maths.similarity import lift, lifting
from polymodal.search import Settings
from polymodal.search.milvus import MilvusStore, Rows
from polymodal.search.milvus.store import MOST
from stored import ABOUT, make_rows


def best(rows, queries, k, metric, chosen=None):
    """The ids of the k best, in float64."""
    pairs = zip(queries, rows.vectors, strict=True)
    if metric == "l2":
        values = [-np.square(q[:, None] - x).sum(-1) for q, x in pairs]
    else:
        values = [q @ x.T for q, x in pairs]
    value = np.max(values, 0)
    if chosen is not None:
        value[:, ~np.asarray(chosen)] = -np.inf
    order = np.argsort(-value, 1)[:, :k]
    return [[rows.ids[place] for place in row if np.isfinite(own[place])]
            for row, own in zip(order, value, strict=True)]  # fmt: skip


def holds(found, expected, lifts):
    """Of one lift the very hits, best first; of several no more than those of each, each once."""
    if lifts == 1:
        assert found == expected
    for some, own in zip(found, expected, strict=True):
        assert set(own) <= set(some)
        assert len(set(some)) == len(some) <= lifts * len(own)


@pytest.mark.parametrize(
    ("metric", "lifts", "kind"),
    [("inner product", 1, "flat"), ("inner product", 2, "flat"), ("l2", 1, "flat"), ("l2", 1, "hnsw")],
)  # fmt: skip
def test_it_finds_what_brute_force_finds(prepared, metric, lifts, kind):
    rows, queries = make_rows(60, lifts), make_rows(7, lifts).vectors
    store = prepared(lifts, metric=metric, settings=Settings(kind=kind))
    store.add([rows], 60)
    holds(store.search(queries, 9), best(rows, queries, 9, metric), lifts)

    chosen = [own == {"split": "val", "year": 2011} for own in rows.metadata]
    found = store.search(queries, 9, {"split": "val", "year": 2011})
    holds(found, best(rows, queries, 9, metric, chosen), lifts)
    passing = {id for id, passes in zip(rows.ids, chosen, strict=True) if passes}
    assert all(set(row) <= passing for row in found)


@pytest.mark.parametrize("name", ["min_kl", "wasserstein"])
def test_measures_are_searched_by_their_lifts(prepared, name):
    torch.manual_seed(0)
    images, captions = both(name, 30, 4, 3, shift=1.0)
    measure = lifting(name)
    vectors = tuple(part.numpy() for part in lift(name, images, "image"))
    store = prepared(len(vectors), vectors[0].shape[1], measure.metric)
    ids = [str(place) for place in range(30)]
    store.add([Rows(ids=ids, vectors=vectors, metadata=[{}] * 30)], 30)
    queries = tuple(part.numpy() for part in lift(name, captions, "caption"))
    places = brute(name, images, captions).T.topk(6).indices.tolist()
    holds(store.search(queries, 6), [[str(place) for place in row] for row in places], len(vectors))


def test_more_queries_than_one_call_takes(prepared, monkeypatch):
    monkeypatch.setattr("polymodal.search.milvus.store.QUERIES", 2)
    rows, queries = make_rows(12), make_rows(5).vectors
    store = prepared()
    store.add([rows], 12)
    assert store.search(queries, 3) == best(rows, queries, 3, "inner product")
    assert store.search((np.zeros((0, 5)),), 3) == []


def test_it_is_there_when_it_is_opened_again(prepared, path):
    rows = make_rows(20)
    with prepared() as store:
        store.add([rows], 20)
        expected = store.search(rows.vectors, 3)
    with MilvusStore(str(path)) as again:
        again.open(ABOUT, (5,), "inner product")
        assert again.count() == 20
        assert again.search(rows.vectors, 3) == expected
        assert len(again.search(rows.vectors, 99)[0]) == 20


def test_what_is_stored_is_stored_once(prepared):
    rows, store, told = make_rows(10), prepared(), []
    store.add([rows], 10)
    longer = replace(make_rows(14), vectors=(np.ones((14, 5)),))
    store.add(longer.parts(4), 14, told.append)
    assert told == [4, 4, 4, 2]
    assert store.count() == 14
    assert store.missing(["item 13", "no", "item 0", 'it\'s "no"']) == ["no", 'it\'s "no"']
    stored = store.line.ask("query", limit=14, output_fields=["id", "lift0"])
    vectors = {row["id"]: row["lift0"] for row in stored}
    assert vectors["item 3"] == pytest.approx(rows.vectors[0][3], abs=1e-6)
    assert vectors["item 12"] == [1.0] * 5


def test_rows_that_come_or_go_meanwhile(prepared):
    store, rows = prepared(), make_rows(4)
    message = r"it holds 4 rows, not 5, so somebody else writes .* give the same command again"
    with pytest.raises(PolymodalError, match=message):
        store.add([rows], 5)


def noting(monkeypatch, verb, option):
    """Note what the client's verb is given for an option."""
    given, act = [], getattr(MilvusClient, verb)

    def noted(self, *args, **options):
        given.append(options[option])
        return act(self, *args, **options)

    monkeypatch.setattr(MilvusClient, verb, noted)
    return given


def test_a_graph_is_made_and_searched_as_asked(prepared, monkeypatch):
    made = noting(monkeypatch, "create_index", "index_params")
    asked = noting(monkeypatch, "search", "search_params")
    store = prepared(metric="l2", settings=Settings(kind="hnsw", links=7, building=55))
    [[index]] = made
    made_with = index.get_index_configs()
    assert (made_with["M"], made_with["efConstruction"]) == (7, 55)
    store.add([make_rows(9)], 9)
    for effort in (33, 2):  # k at the least
        store.search(make_rows(1).vectors, 5, effort=effort)
    assert asked == [{"params": {"ef": 33}}, {"params": {"ef": 5}}]
    with pytest.raises(PolymodalError, match=r"graph is {.*7.*}, not {.*8.*}"):
        prepared(metric="l2", settings=Settings(kind="hnsw", links=8, building=55))


NASTY = [
    'a"b',
    "it's",
    "c\\d",
    "\\",
    "\\n",
    "two\nlines\r\tand a tab",
    "日本 é ✓",
    "{x}",
    '" or 1 == 1 or "',
    "",
]


def test_ids_keys_and_values_may_have_any_sign(prepared):
    store, count = prepared(), len(NASTY)
    metadata = [{"name": text, f'k"\\{place}': place} for place, text in enumerate(NASTY)]
    rows = Rows(ids=NASTY, vectors=make_rows(count).vectors, metadata=metadata)
    store.add([rows], count)
    assert store.missing([*NASTY, "x"]) == ["x"]
    for place, text in enumerate(NASTY):
        for where in {"name": text}, {f'k"\\{place}': place}:
            assert store.search((np.ones((1, 5)),), count, where) == [[text]]


def test_values_are_compared_as_text(prepared):
    store = prepared()
    values = [
        3,
        "3",
        2.5,
        True,
        "True",
        -4,
        1e-7,
        float("nan"),
        10**17,
        3.0,
        None,
        "None",
        ["a"],
        {},
    ]
    count = len(values)
    rows = replace(make_rows(count), metadata=[{"value": value} for value in values])
    store.add([rows], count)

    def passing(value):
        found = store.search((np.ones((1, 5)),), count, {"value": value})[0]
        return sorted(str(values[rows.ids.index(id)]) for id in found)

    assert passing("3") == passing(3) == ["3", "3"]
    assert passing("True") == passing(True) == ["True", "True"]
    assert passing("None") == passing(None) == ["None", "None"]
    for one in ("2.5", 2.5, "-4", -4, 1e-7, "nan", float("nan"), 10**17, 3.0, ["a"], {}):
        assert passing(one) == [str(one)]
    for nobody in (["b"], "3.5", "2.50", 'x"] > 0 or metadata["value'):
        assert passing(nobody) == []


def test_another_model_measure_or_size_is_refused(prepared, path):
    prepared().close()
    with pytest.raises(
        PolymodalError,
        match=r"store\.db, collection 'polymodal': it was made with something else: "
        r"model is 'abc', not 'xyz'; widths is \[5\], not \[5, 5\]; metric is 'inner product', not 'l2'\. "
        "Choose another collection, or drop this one and build the index again",
    ):
        prepared(2, metric="l2", model="xyz")
    with pytest.raises(PolymodalError, match=r"graph is None, not \{'links': 32, 'building': 80\}"):
        prepared(settings=Settings(kind="hnsw"))
    with MilvusStore(str(path)) as store, pytest.raises(PolymodalError, match="side is 'image'"):
        store.open({**ABOUT, "side": "caption"}, (5,), "inner product")


def test_collections_of_one_file_know_nothing_of_each_other(prepared, path):
    store = prepared()
    store.add([make_rows(4)], 4)
    with MilvusStore(str(path), "captions") as other:
        other.prepare({**ABOUT, "model": "xyz"}, (3,), "l2")
        assert other.count() == 0
        other.drop()
        other.drop()
        with pytest.raises(
            PolymodalError, match=r"collection 'captions': there is none\. Build the"
        ):
            other.open(ABOUT, (3,), "l2")
    assert store.count() == 4  # the embedded Milvus runs on until its last store is closed


def test_searching_makes_no_store(path):
    with (
        MilvusStore(str(path)) as store,
        pytest.raises(PolymodalError, match=r"store\.db, .*there is none\. Build the index first"),
    ):
        store.open(ABOUT, (5,), "l2")
    assert not path.exists()


def test_a_collection_of_another_program_is_left_alone(prepared, path):
    store = prepared()
    store.line.client.create_collection("theirs", dimension=4)
    other = MilvusStore(str(path), "theirs")
    for act in (lambda: other.prepare(ABOUT, (5,), "l2"), other.drop):
        with pytest.raises(
            PolymodalError, match=r"'theirs': another program made it\. Choose anoth"
        ):
            act()
    other.close()
    assert store.line.client.has_collection("theirs")


def test_rows_that_cannot_be_stored(prepared):
    store, rows = prepared(), make_rows(3)
    [vectors] = rows.vectors
    with pytest.raises(
        PolymodalError, match=r"Two rows have the id 'item 1'\. Ids must all be diff"
    ):
        store.add([replace(rows, ids=["item 1"] * 3)], 3)
    with pytest.raises(PolymodalError, match="Two rows have the id 'item 0'"):
        store.add([rows, rows], 6)
    with pytest.raises(PolymodalError, match="The vector of 'item 1' is not finite in float32"):
        store.add([replace(rows, vectors=(vectors * [[1], [1e300], [1]],))], 3)
    message = (
        r"Expected vectors of shape \[3, 5\] for the store's lifts, found \[3, 4\]\. Lift with"
    )
    with pytest.raises(PolymodalError, match=message):
        store.add([replace(rows, vectors=(vectors[:, 1:],))], 3)


def test_queries_that_cannot_be_asked(prepared):
    store, query = prepared(), np.ones((2, 5))
    for k in (0, MOST + 1):
        with pytest.raises(PolymodalError, match=f"Milvus gives 1 to 16384 hits a query, not {k}"):
            store.search((query,), k)
    with pytest.raises(PolymodalError, match=r"shape \[2, 5\] .* found \[2, 5\], \[2, 5\]\. Lift"):
        store.search((query, query), 1)
    query[1, 2] = np.nan
    with pytest.raises(PolymodalError, match="The vector of 'query 1' is not finite"):
        store.search((query,), 1)
    assert store.search((np.ones((2, 5)),), 4) == [[], []]
