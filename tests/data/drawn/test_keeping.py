"""What was drawn is kept, once, whoever asks at the same time."""

import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from polymodal.data.drawn.kernel import keeping
from polymodal.data.drawn.kernel.keeping import Kept

DRAWN: Counter[int] = Counter()


def draw(rows):
    DRAWN.update(rows)
    first = np.asarray(rows, np.float32).reshape(-1, 1) * np.ones((1, 3), np.float32)
    return first, np.asarray(rows, np.int64)


def test_each_row_is_drawn_once_by_many_threads():
    DRAWN.clear()
    kept = Kept(50, draw)
    asked = [np.random.default_rng(k).integers(0, 50, 20).tolist() for k in range(40)]
    with ThreadPoolExecutor(8) as pool:
        for rows, (first, second) in zip(asked, pool.map(kept, asked), strict=True):
            assert second.tolist() == rows and (first == np.reshape(rows, (-1, 1))).all()
    assert set(DRAWN.values()) == {1}
    assert kept([])[0].shape == (0, 3)


def test_what_is_too_much_is_drawn_anew(monkeypatch):
    monkeypatch.setattr(keeping, "LIMIT", 10)
    DRAWN.clear()
    kept = Kept(50, draw)
    assert kept([3, 1, 3])[1].tolist() == [3, 1, 3] == kept([3, 1, 3])[1].tolist()
    assert DRAWN == {3: 2, 1: 2}


def test_a_copy_starts_empty():
    kept = Kept(5, draw)
    kept([1])
    DRAWN.clear()
    again = pickle.loads(pickle.dumps(kept))
    assert again([1])[1].tolist() == [1] and DRAWN == {1: 1}
