"""What a store finds is what brute force finds, in a file that is closed and opened again."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from brute import both, brute

from polymodal.errors import PolymodalError
from polymodal.search.milvus import MilvusStore, Rows
from polymodal.search.milvus.store import MOST
from polymodal.similarity import lift, lifting
from stored import ABOUT, make_rows


def best(rows, queries, k, metric, chosen=None):
    """The ids and values of the k best, in float64."""
    pairs = zip(queries, rows.vectors, strict=True)
    if metric == "l2":
        values = [-np.square(q[:, None] - x).sum(-1) for q, x in pairs]
    else:
        values = [q @ x.T for q, x in pairs]
    value = np.max(values, 0)
    if chosen is not None:
        value[:, ~np.asarray(chosen)] = -np.inf
    order = np.argsort(-value, 1)[:, :k]
    sign = -1 if metric == "l2" else 1
    ids = [[rows.ids[place] for place in row] for row in order]
    return ids, sign * np.take_along_axis(value, order, 1)


def seen(found):
    return [[one.id for one in row] for row in found], [[one.value for one in row] for row in found]


@pytest.mark.parametrize(
    ("metric", "lifts", "graph"),
    [("inner product", 1, "flat"), ("inner product", 2, "flat"), ("l2", 1, "flat"), ("l2", 1, "hnsw")],
)  # fmt: skip
def test_it_finds_what_brute_force_finds(prepared, metric, lifts, graph):
    rows, queries = make_rows(60, lifts), make_rows(7, lifts).vectors
    store = prepared(lifts, metric=metric, graph=graph)
    store.add([rows], 60)
    ids, values = seen(store.search(queries, 9))
    expected_ids, expected = best(rows, queries, 9, metric)
    assert ids == expected_ids
    np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-5)

    chosen = [own == {"split": "val", "year": 2011} for own in rows.metadata]
    found = store.search(queries, 9, {"split": "val", "year": 2011})
    assert seen(found)[0] == best(rows, queries, 9, metric, chosen)[0]
    assert all(one.metadata == {"split": "val", "year": 2011} for row in found for one in row)


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
    ids, values = seen(store.search(queries, 6))
    expected, places = brute(name, images, captions).T.topk(6)
    assert [[int(id) for id in row] for row in ids] == places.tolist()
    scores = measure.read(torch.tensor(values))
    torch.testing.assert_close(scores, expected.float(), rtol=1e-4, atol=1e-4)


def test_more_queries_than_one_call_takes(prepared, monkeypatch):
    monkeypatch.setattr("polymodal.search.milvus.store.QUERIES", 2)
    rows, queries = make_rows(12), make_rows(5).vectors
    store = prepared()
    store.add([rows], 12)
    assert seen(store.search(queries, 3))[0] == best(rows, queries, 3, "inner product")[0]
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
    values = {one.id: one.value for one in store.search((np.ones((1, 5)),), 14)[0]}
    assert values["item 3"] == pytest.approx(rows.vectors[0][3].sum(), abs=1e-5)
    assert values["item 12"] == pytest.approx(5.0)


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
            [found] = store.search((np.ones((1, 5)),), count, where)
            assert [(one.id, one.metadata) for one in found] == [(text, metadata[place])]


def test_values_are_compared_as_text(prepared):
    store = prepared()
    values = [3, "3", 2.5, True, "True", -4, 1e-7, "nan", 10**17]
    rows = replace(make_rows(9), metadata=[{"value": value} for value in values])
    store.add([rows], 9)

    def passing(value):
        found = store.search((np.ones((1, 5)),), 9, {"value": value})[0]
        return sorted(str(one.metadata["value"]) for one in found)

    assert passing("3") == passing(3) == ["3", "3"]
    assert passing("True") == passing(True) == ["True", "True"]
    for one in ("2.5", 2.5, "-4", -4, 1e-7, "nan", float("nan"), 10**17):
        assert passing(one) == [str(one)]


def test_filters_that_let_nothing_pass(prepared):
    store = prepared()
    store.add([make_rows(6)], 6)
    query = (np.ones((1, 5)),)
    with pytest.raises(PolymodalError, match=r"^No item has split=train and year=1999\.$"):
        store.search(query, 3, {"split": "train", "year": 1999})
    message = (
        r"Unknown key of the items' metadata 'yaer'\. Did you mean 'year'\? Known: split, year\."
    )
    with pytest.raises(PolymodalError, match=message):
        store.search(query, 3, {"yaer": 2010})
    with pytest.raises(PolymodalError, match="Unknown key of the items' metadata"):
        store.search(query, 3, {'year"] > 0 or metadata["split': 2010})


def test_another_model_measure_or_size_is_refused(prepared, path):
    prepared().close()
    with pytest.raises(
        PolymodalError,
        match=r"store\.db, collection 'polymodal': it was made with something else: "
        r"model is 'abc', not 'xyz'; widths is \[5\], not \[5, 5\]; metric is 'inner product', not 'l2'\. "
        "Choose another collection, or drop this one and build the index again",
    ):
        prepared(2, metric="l2", model="xyz")
    with pytest.raises(PolymodalError, match="graph is 'flat', not 'hnsw'"):
        prepared(graph="hnsw")
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
    with pytest.raises(PolymodalError, match="The metadata of 'item 2' are not JSON: Out of range"):
        store.add([replace(rows, metadata=[{}, {}, {"x": float("nan")}])], 3)
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
