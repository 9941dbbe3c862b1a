"""Figure 1: its numbers and its picture, and texts that cannot be drawn."""

import math

import pytest

from polymodal.base.errors import PolymodalError
from polymodal.studies.figures import figure1, mismatch

TEXTS = ["small red", "small blue", "large red", "large blue"]


@pytest.mark.parametrize("pair", [None, ("large red", "small blue")])
def test_the_picture_is_written_and_the_same_again(one, flat, monkeypatch, tmp_path, pair):
    monkeypatch.setattr(mismatch, "FEWEST", 61)
    scores = figure1(flat, one["val"], tmp_path / "a.png", pair=pair)
    again = figure1(flat, one["val"], tmp_path / "b.png", pair=pair)
    names = [text.replace(" ", "_") for text in TEXTS]
    assert set(scores) == {"kl", "outside"} | {f"{k}_{n}" for k in ("kl", "outside") for n in names}
    assert scores == again and all(math.isfinite(value) for value in scores.values())
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_a_text_without_an_image_is_refused(one, flat, monkeypatch, tmp_path):
    monkeypatch.setattr(mismatch, "FEWEST", 31)
    few = one["train"]
    texts = {few.captions(i)[0].text for i in range(len(few))}
    (absent, *_) = [text for text in TEXTS if text not in texts]
    with pytest.raises(PolymodalError, match=f"no image of '{absent}'.*Its texts are: "):
        figure1(flat, few, tmp_path / "a.png", pair=(sorted(texts)[0], absent))
