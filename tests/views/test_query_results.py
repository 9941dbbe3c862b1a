"""Queries on a page: how sure, how uncertain each hit is, and the picture that asks."""

import numpy as np

from polymodal.views import Hit, QueryResult, queries_section


def image(grey: int) -> np.ndarray:
    return np.full((8, 8, 3), grey, np.uint8)


def test_what_is_known_is_shown():
    hits = (Hit(image(1), -0.5, entropy=12.34), Hit(image(2), -0.7))
    found = QueryResult("a.png", hits, note="sure: <81 %>", picture=image(3))
    body = queries_section([found]).body
    assert '<p class="note">sure: &lt;81 %&gt;</p>' in body
    assert body.count("entropy") == 1
    assert "<span>entropy 12.3</span>" in body
    assert body.count("<img") == 3
    assert 'alt="The picture asked with: a.png"' in body


def test_what_is_not_known_is_left_out():
    body = queries_section([QueryResult("a cube", (Hit(image(1), 0.5),))]).body
    assert "note" not in body
    assert "entropy" not in body
    assert body.count("<img") == 1
