"""Questions to an index: by text or by picture, of the model that made it and of no other."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.runs.index_building import index_run
from polymodal.runs.loading import load
from polymodal.search import Answer, Index, Settings, asking, open_index
from polymodal.search.asking import answer_query, identity, strange_words
from toys import train_squares


@pytest.fixture(scope="module")
def runs(squares, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    train_squares(squares, folder / "a")
    train_squares(squares, folder / "b", seed=1)
    train_squares(squares, folder / "wide", model={"embed_dim": 24})
    index_run(folder / "a", folder / "index", split=("val", "test"))
    return folder


@pytest.fixture(scope="module")
def system(runs):
    return load(runs / "a")


def test_the_best_of_all_images_are_found(runs, system, squares):
    answer = answer_query(system, "a red square at the left", index=runs / "index", k=3)
    index = open_index(runs / "index")
    query = system.encode_texts(["a red square at the left"])
    expected = (query @ index.embeddings.T)[0].topk(3)
    assert isinstance(answer, Answer)
    assert [hit.id for hit in answer] == [index.items[i].id for i in expected.indices.tolist()]
    assert [hit.score for hit in answer] == pytest.approx(expected.values.tolist(), abs=1e-5)
    assert answer[0].picture == str(squares / answer[0].id)
    assert answer[0].metadata["split"] in ("val", "test")
    assert answer.sureness.word in ("sure", "fairly sure", "unsure", "guessing")


def test_lists_give_lists(runs, system):
    index = open_index(runs / "index")
    both = answer_query(system, ["something red", "something blue"], index=index, k=2)
    assert [answer.query for answer in both] == ["something red", "something blue"]
    alone = answer_query(system, "something blue", index=index, k=2)
    assert [hit.id for hit in both[1]] == [hit.id for hit in alone]
    assert answer_query(system, [], index=index) == []


def test_pictures_find_themselves(runs, system, squares):
    path = squares / "test-003.png"
    with Image.open(path) as image:
        image.load()
    given = [path, str(path), image, np.asarray(image)]
    found = answer_query(system, image=given, index=runs / "index", k=1)
    assert [answer[0].id for answer in found] == ["test-003.png"] * 4
    assert [answer.query for answer in found] == [str(path)] * 2 + ["a picture"] * 2
    assert found[0].asked == "image"
    assert found[0].sureness.word is None
    assert answer_query(system, image=path, index=runs / "index", k=1)[0].id == "test-003.png"


def test_strange_words_are_named(runs, system):
    answer = answer_query(system, "a Red glorp glorp square, frabjous", index=runs / "index")
    assert answer.unknown == ("glorp", "frabjous")
    assert strange_words(object(), "whatever") == ()  # a tokenizer knows pieces of all words


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"query": ""}, "The text '' has no words"),
        ({"query": ["something red", " ?! "]}, r"The text ' \?! ' has no words"),
        ({"query": "red", "index": None}, "index is an index, or the folder of one, not None"),
        ({"query": "glorp"}, "knows no word of 'glorp'"),
        ({}, "a text or with image="),
        ({"query": "red", "image": "a.png"}, "a text or with image="),
        ({"image": "absent.png"}, "There is no image at absent.png"),
        ({"query": "red", "k": 0}, "k must be 1 or more"),
        ({"query": "red", "where": {"size": 3}}, "Unknown key of the items' metadata 'size'"),
    ],
)
def test_what_cannot_be_asked(runs, system, asked, message):
    with pytest.raises(PolymodalError, match=message):
        answer_query(system, **{"index": runs / "index"} | asked)


def test_an_index_of_another_model_is_refused(runs, system):
    index = open_index(runs / "index")
    with pytest.raises(PolymodalError, match=r"with another model: .*search with the run .*/a\)"):
        answer_query(load(runs / "b"), "something red", index=index)
    with pytest.raises(PolymodalError, match="width 16, but this model gives 24"):
        answer_query(load(runs / "wide"), "something red", index=index)
    other = replace(index, measure="mahalanobis")
    with pytest.raises(
        PolymodalError, match="similarity mahalanobis, but this model compares by cosine"
    ):
        answer_query(system, "something red", index=other)
    unsigned = replace(index, origin=None)
    assert answer_query(load(runs / "b"), "something red", index=unsigned, k=1)


def test_identity_is_that_of_weights_and_settings(runs):
    first, again, other = load(runs / "a"), load(runs / "a"), load(runs / "b")
    assert identity(first) == identity(again) != identity(other)
    with torch.no_grad():
        next(again.parameters()).flatten()[0] += 1e-3
    assert identity(first) != identity(again)
    changed = load(runs / "a")
    changed.reader = type(changed.reader)((*changed.reader.words[:-1], "other"))
    assert identity(first) != identity(changed)


def test_weights_are_hashed_once_and_again_when_they_change(runs, monkeypatch):
    system, index, hashed = load(runs / "a"), open_index(runs / "index"), []
    real = asking.fingerprint

    def noting(*given):
        hashed.append(1)
        return real(*given)

    monkeypatch.setattr(asking, "fingerprint", noting)
    for _ in range(3):
        answer_query(system, "something red", index=index)
    assert len(hashed) == 1
    assert (
        answer_query(system, [], index=index)
        == answer_query(load(runs / "b"), [], index=index)
        == []
    )
    assert len(hashed) == 1

    weight = next(system.parameters())
    with torch.no_grad():
        weight += 1e-3
    for _ in range(2):
        with pytest.raises(PolymodalError, match="with another model"):
            answer_query(system, "something red", index=index)
    system.load_state_dict(load(runs / "a").state_dict())
    assert answer_query(system, "something red", index=index, k=1)
    weight.data = weight.data + 1
    with pytest.raises(PolymodalError, match="with another model"):
        answer_query(system, "something red", index=index)
    system.load_state_dict(load(runs / "a").state_dict(), assign=True)
    assert answer_query(system, "something red", index=index, k=1)
    system.half().float()  # in the old place perhaps, but not the old weights
    with pytest.raises(PolymodalError, match="with another model"):
        answer_query(system, "something red", index=index)


def test_how_widely_is_searched(runs, system, monkeypatch):
    used, search = [], Index.search_among

    def noting(self, *given):
        used.append(self.settings)
        return search(self, *given)

    monkeypatch.setattr(Index, "search_among", noting)
    for how in ({"probes": 3, "effort": 4, "oversample": 5}, {}):
        system.search("something red", index=runs / "index", **how)
        assert used.pop() == Settings(**how)
    with pytest.raises(PolymodalError, match="effort must be 1 or more, not 0"):
        system.search("something red", index=runs / "index", effort=0)


def test_a_system_searches_by_itself(runs, system, squares):
    answer = system.search("something red", index=runs / "index", k=2, where={"split": "val"})
    assert [hit.metadata["split"] for hit in answer] == ["val", "val"]
    assert (
        system.search(image=squares / "test-003.png", index=runs / "index", k=1)[0].id
        == "test-003.png"
    )
