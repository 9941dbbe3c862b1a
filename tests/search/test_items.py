"""Items: who they are, and filters of their metadata."""

import pytest

from polymodal.base.errors import PolymodalError
from polymodal.search import Item, Items

STRANGE = Item(
    id="a\udce9\n\u2028b", captions=("ünd\r", ""), metadata={"n": 1, "ok": True, "x": None}
)


def test_items_survive_their_file():
    items = Items.of([Item(id="1", picture="a.png"), STRANGE])
    again = Items.read(items.write())
    assert len(again) == 2
    assert list(again) == [Item(id="1", picture="a.png"), STRANGE]
    assert again[1:][0] == STRANGE
    assert again.ids == ["1", STRANGE.id]


def test_ids_are_all_different():
    with pytest.raises(PolymodalError, match="Two items have the id '1'"):
        Items.of([Item(id="1"), Item(id="2"), Item(id="1")])


@pytest.mark.parametrize(
    ("where", "places"),
    [
        ({"split": "a"}, [0, 2]),
        ({"split": "a", "year": 2}, [2]),
        ({"year": "1"}, [0, 1]),
        ({"new": True}, [3]),
        ({"new": "True"}, [3]),
    ],
)
def test_filters(where, places):
    own = [{"split": "a", "year": 1}, {"split": "b", "year": 1}, {"split": "a", "year": 2}]
    own.append({"new": True})
    items = Items.of(Item(id=str(i), metadata=one) for i, one in enumerate(own))
    found = items.matching(where)
    assert found.places.tolist() == places
    assert str(found) == ", ".join(f"{key}={value}" for key, value in where.items())


def test_filters_that_nothing_passes():
    items = Items.of(Item(id=str(i), metadata={"year": i, "split": "a"}) for i in range(12))
    with pytest.raises(PolymodalError, match=r"'yeer'\. Did you mean 'year'\? Known: split, year"):
        items.matching({"yeer": 1})
    with pytest.raises(PolymodalError, match=r"year=99 \(there are: 0, 1, 10, .* and 2 more\)"):
        items.matching({"year": 99})
    with pytest.raises(PolymodalError, match=r"year=3 \(.*\) and split=b \(there are: a\)"):
        items.matching({"year": 3, "split": "b"})
