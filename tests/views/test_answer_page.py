"""An index asked with its run, and its answers as a page."""

from dataclasses import replace

import pytest

from polymodal.base.errors import PolymodalError
from polymodal.runs.index_asking import ask_index, run_of
from polymodal.runs.index_building import index_run
from polymodal.views.answer_page import write_page
from toys import train_squares


@pytest.fixture(scope="module")
def index(squares, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    train_squares(squares, folder / "a")
    return index_run(folder / "a", folder / "index")


def test_texts_come_before_pictures(index, squares):
    found = ask_index(index, texts=["red", "blue"], images=[squares / "val-000.png"], k=2)
    assert [answer.query for answer in found] == ["red", "blue", str(squares / "val-000.png")]
    assert [len(answer) for answer in found] == [2, 2, 2]


def test_a_page_holds_all_of_it(index, squares, tmp_path):
    answers = ask_index(index, texts=["a red <b>glorp</b>"], images=[squares / "val-000.png"], k=3)
    write_page(tmp_path / "page.html", index, answers)
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count('src="data:image/') == 3 + 1 + 3  # the picture that asks is there too
    assert "a red &lt;b&gt;glorp&lt;/b&gt;" in page
    assert "words that the model has never seen: b, glorp." in page
    assert "not known how sure: no labels say which images are alike." in page
    assert f"{answers[0][0].score:.3f}" in page
    assert "validation queries" in page
    assert "The best of 16 images by cosine" in page


def test_captions_are_shown_with_their_image(index, tmp_path):
    captions = index_run(run_of(index, None), tmp_path / "captions", items="captions")
    write_page(tmp_path / "page.html", captions, ask_index(captions, texts=["red"], k=2))
    assert (tmp_path / "page.html").read_text("utf-8").count("<img") == 2


def test_what_is_missing_is_said(index, tmp_path):
    with pytest.raises(PolymodalError, match="Ask for something"):
        ask_index(index)
    gone = replace(index, origin=replace(index.origin, run=str(tmp_path / "gone")))
    with pytest.raises(PolymodalError, match=r"not at .*gone any more. Give --run DIR"):
        ask_index(gone, texts=["red"])
    assert ask_index(gone, texts=["red"], k=1, run=run_of(index, None))
    unsigned = replace(index, origin=None)
    with pytest.raises(PolymodalError, match=r"which run it was built with\. Give --run"):
        ask_index(unsigned, texts=["red"])
    with pytest.raises(PolymodalError, match="which data its items are of"):
        write_page(tmp_path / "page.html", unsigned, [])


def test_pictures_of_data_that_changed(index, tmp_path):
    changed = replace(index, origin=replace(index.origin, splits={"test": "other"}))
    with pytest.raises(PolymodalError, match=r"'test' of folder:.* is not what it was"):
        write_page(tmp_path / "page.html", changed, [])
