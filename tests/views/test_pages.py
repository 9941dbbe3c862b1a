"""Reports: whole, harmless, complete in themselves, and true to what they are given."""

import base64
import io
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from PIL import Image

from polymodal import views as report
from polymodal.base import files
from polymodal.base.errors import PolymodalError
from polymodal.data.records import Caption, Phrase, Record, Region
from polymodal.views.scene_boxes import COLOURS, LIT, mark_phrases, place_tags

HOSTILE = "</title></style><script>alert('x')</script> & \"quoted\" \x00 \ud800"
VOID = {"meta", "img", "link"}
Attributes = dict[str, str | None]


class Reader(HTMLParser):
    """Reads a page strictly: every element is closed in its turn."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, Attributes]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"an attribute stands twice in {tag}"
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[Attributes]:
        return [attrs for found, attrs in self.found if found == tag]

    def having(self, tag: str, style: str) -> list[Attributes]:
        return [attrs for attrs in self.all(tag) if style in (attrs.get("class") or "").split()]


def image(height: int = 40, width: int = 60) -> np.ndarray:
    return np.arange(height * width * 3, dtype=np.uint8).reshape(height, width, 3)


def thing(colour: str, box: tuple[int, int, int, int]) -> Region:
    known = {"size": "small", "colour": colour, "material": "metal", "shape": "cube"}
    return Region("cube", box, attributes=known)


def shown(name: str, *texts: Caption) -> Record:
    """A picture and what is said of it."""
    return Record(name, {"image": image(), "captions": texts})


def record(name: str = "one", text: str = "A red cube and two cubes.") -> Record:
    things = (thing("red", (5, 6, 15, 26)), thing("blue", (30, 10, 50, 30)))
    bare = shown(name, Caption(text, phrases=(Phrase(0, 10, (0,)), Phrase(15, 24, (0, 1)))))
    return Record(name, {**bare.values, "regions": things})


def result(query: str = "a red cube") -> report.QueryResult:
    hits = (
        report.Hit(image(), 0.9, ("A red cube.", "Something red."), True),
        report.Hit(image(), 0.5, ("A dog.",), False),
        report.Hit(image(), 0.1),
    )
    return report.QueryResult(query, hits)


def scores(**more: float) -> dict[str, float]:
    return {"t2i_r1": 42.0, "t2i_median": 6.0, "rsum": 233.3, **more}


def curves() -> list[dict[str, float]]:
    rows: list[dict[str, float]] = [{"step": k * 10, "loss": 1 / k} for k in range(1, 50)]
    for row in rows[9::10]:
        row |= {"rsum": 100 - abs(row["step"] - 300), "t2i_r1": 1.0, "t2i_r5": 5.0, "t2i_r10": 9.0}
    return rows


def decode(uri: str) -> Image.Image:
    head, _, content = uri.partition(",")
    found = Image.open(io.BytesIO(base64.b64decode(content, validate=True)))
    assert head == f"data:image/{(found.format or '').lower()};base64"
    found.load()
    return found


def whole(tmp_path: Path, text: str) -> str:
    """A page with every kind of section, `text` wherever a text can stand."""
    panels = [report.Panel(text, {"t2i_r1": text, "t2i_r5": "b"})]
    results = [result(text), report.QueryResult(text, (report.Hit(image(), 1.0, (text,)),))]
    records = [record(), record(text, text), shown(text, Caption(text))]
    by_split = {text: scores(), "test": scores(**{text: 1.0})}
    sections = [
        report.metric_section(by_split, {"t2i_r1": 2.0}, note=text),
        report.curves_section(curves(), "rsum", panels=panels),
        report.queries_section(results),
        report.scenes_section(records),
        report.facts_section({text: text, "versions": {text: [text, 1], "none": None}}),
        report.Section(text, "<p>mine</p>", text),
    ]
    report.write_report(tmp_path / "report.html", text, text, sections)
    return (tmp_path / "report.html").read_text("utf-8")


def body(section: report.Section) -> Reader:
    return Reader(section.body)


@pytest.mark.parametrize("text", ["plain words", HOSTILE, "", "ünï → 文"])
def test_a_report_is_well_formed_and_complete_in_itself(tmp_path: Path, text: str) -> None:
    page = whole(tmp_path, text)
    reader = Reader(page)
    assert page.startswith("<!doctype html>")
    assert not reader.all("script") and not reader.all("link")
    sources = [a[k] or "" for _, a in reader.found for k in ("src", "href") if k in a]
    assert sources and all(source.startswith(("data:image/", "#")) for source in sources)
    assert not re.search(r"https?://|@import|url\(", page)
    anchors = [attrs["id"] for _, attrs in reader.found if "id" in attrs]
    assert len(anchors) == len(set(anchors)) == 6
    assert {a["href"] for a in reader.all("a")} == {f"#{anchor}" for anchor in anchors}
    assert all(a.get("alt") is not None for a in reader.all("img"))


def test_hostile_text_is_nothing_but_text(tmp_path: Path) -> None:
    reader = Reader(whole(tmp_path, HOSTILE))
    shown = HOSTILE.replace("\x00", "\ufffd").replace("\ud800", "?")
    assert reader.text.count(shown) > 8
    assert any(attrs.get("alt") == shown for attrs in reader.all("img"))


def test_a_report_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "new" / "report.html"
    report.write_report(path, "first", "", [])
    before = path.read_bytes()
    monkeypatch.setattr(files.os, "fsync", Mock(side_effect=OSError("the plug was pulled")))
    with pytest.raises(OSError, match="plug"):
        report.write_report(path, "second", "", [])
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_scores_stand_beside_chance() -> None:
    guess = {"t2i_r1": 2.0, "t2i_median": 250.0}
    reader = body(report.metric_section({"val": scores(), "test": {}}, guess))
    assert "42.021 × chance" in reader.text  # the value, and the ratio in small print below
    assert "6.02.4 % of chance" in reader.text
    assert "% of captions for which their image comes first." in reader.text
    assert [a["scope"] for a in reader.all("th")].count("col") == 4
    assert "chance" not in report.metric_section({"val": scores()}).body


def test_scores_of_any_system_are_shown() -> None:
    known = {"kl": report.Metric(label="KL", meaning="Nats.", rising=False)}
    text = body(report.metric_section({"val": {"kl": 0.5, "odd": math.nan}}, known=known)).text
    assert "KLNats.0.5" in text and "odd–" in text
    text = body(report.metric_section({"val": {"fold_t2i_r1": 3.0, "t2i_r1": 2.0}})).text
    assert "Text → image, mean over folds" in text
    assert "Nothing was scored" in report.metric_section({"val": {}}).body


def test_curves_mark_the_first_best_step() -> None:
    reader = body(report.curves_section(curves(), "rsum"))
    assert len(reader.having("figure", "plot")) == 3  # no image-to-text recalls were noted
    assert reader.text.count("selected: 300") == 3
    assert len(reader.having("circle", "chosen")) == 5
    tied = [{"step": 1, "rsum": 5.0}, {"step": 2, "rsum": 5.0}, {"step": 3, "rsum": math.nan}]
    assert "selected: 1" in report.curves_section(tied, "rsum").body


@pytest.mark.parametrize(("points", "plots"), [
    ([], 0),
    ([{"step": 1.0}], 0),
    ([{"step": 0, "loss": 0.0, "t2i_r1": 0.0}], 2),
    ([{"step": 100, "loss": 0.4, "t2i_r1": 99.0}], 2),
    ([{"step": 100, "loss": math.nan, "rsum": math.inf}], 0),
    ([{"step": 1, "loss": -3.0}, {"step": 2, "loss": -3.0}], 1),
    ([{"step": 1, "loss": 1e-9}, {"step": 10**6, "loss": 1e9}], 1),
    ([{"step": 1, "loss": 1.0, "rsum": 3.0}, {"step": 2, "rsum": math.nan}], 2),
    ([{"step": k, "loss": math.sin(k)} for k in range(5000)], 1),
])  # fmt: skip
def test_curves_of_any_kind(points: list[dict[str, float]], plots: int) -> None:
    shown = report.curves_section(points, "rsum").body
    assert len(Reader(shown).having("figure", "plot")) == plots
    assert ("No point" in shown) == (plots == 0) and "nan" not in shown and "inf" not in shown
    drawn = "".join(a["d"] or "" for a in Reader(shown).having("path", "line"))
    across = [float(x) for x in re.findall(r"[ML](-?[\d.]+) ", drawn)]
    assert all(58 <= x <= 436 for x in across) and len(across) <= 402 * max(plots, 1)


def test_a_line_is_broken_where_a_value_is_missing() -> None:
    line = report.Line("a", ((0, 0.0), (1, 1.0), (2, math.nan), (3, 2.0), (4, 4.0)))
    drawn = Reader(report.plot("t", [line])).having("path", "line")[-1]["d"] or ""
    assert drawn.count("M") == 2 and drawn.count("L") == 2
    assert drawn.startswith("M58.0 228.0h0") and drawn.endswith("L436.0 24.0")


def test_every_query_and_hit_is_there() -> None:
    reader = body(report.queries_section([result("first"), result("second")]))
    assert [reader.text.count(t) for t in ("first", "second", "1 of 2 fit")] == [1, 1, 2]
    assert [len(reader.having("li", kind)) for kind in ("right", "wrong", "unjudged")] == [2, 2, 2]
    first, _, third, *others = reader.all("img")
    assert len(others) == 3 and first["title"] == "A red cube.\nSomething red."
    assert third["alt"] == "Image found at place 3"
    assert "Nothing was asked" in report.queries_section([]).body
    assert "No image was found" in report.queries_section([report.QueryResult("?", ())]).body


@pytest.mark.parametrize(("size", "pixels", "expected", "kind"), [
    ((40, 60), None, (60, 40), "PNG"),
    ((40, 60), 160, (60, 40), "PNG"),
    ((224, 224), 160, (160, 160), "JPEG"),
    ((200, 300), 150, (150, 100), "JPEG"),
    ((200, 300), None, (300, 200), "JPEG"),
])  # fmt: skip
def test_pictures_carry_their_pixels(size, pixels, expected, kind) -> None:
    found = decode(report.data_uri(image(*size), pixels))
    assert found.size == expected and found.format == kind
    if kind == "PNG":
        assert np.array_equal(np.asarray(found), image(*size))


def test_boxes_lie_in_the_pixels_of_the_image() -> None:
    reader = body(report.scenes_section([record()], pixels=30))
    drawing = reader.having("svg", "boxes")[0]
    assert drawing["viewbox"] == "0 0 60 40"  # the parser writes attributes small
    sides = ("x", "y", "width", "height")
    edges = {tuple(int(a[k] or 0) for k in sides) for a in reader.having("rect", "edge")}
    assert edges == {(5, 6, 10, 20), (30, 10, 20, 20)}
    assert decode(reader.all("img")[0]["src"] or "").size == (30, 20)
    assert "1: small red metal cube" in reader.text


def test_tags_stay_inside_and_apart() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        boxes = [(x, y, x + 20, y + 20) for x, y in rng.integers(0, 80, (6, 2)).tolist()]
        assert all(min(t) >= 0 and max(t) <= 100 for t in place_tags(boxes, 100, 100))
    first, second = place_tags([(40, 40, 60, 60)] * 2, 100, 100)
    assert first[2] <= second[0] and first[3] <= 40


def test_phrases_have_the_colour_and_number_of_what_they_name() -> None:
    reader = body(report.scenes_section([record()]))
    assert [a["class"] for a in reader.all("mark")] == ["c-red p0", "c-none p0 p1"]
    assert "A red cube1 and two cubesall." in reader.text
    red = thing("red", (0, 0, 1, 1))
    caption = Caption("two red cubes", phrases=(Phrase(0, 13, (0, 2)), Phrase(4, 13, (1,))))
    marked = mark_phrases(caption, (red, red, red))
    assert marked == '<mark class="c-red p0 p2">two red cubes<sub>1, 3</sub></mark>'
    phrases = (Phrase(0, 99, (0,)), Phrase(200, 300, (0,)), Phrase(0, 1, (7,)))
    marked = mark_phrases(Caption("a cat", phrases=phrases), (thing("pink", (0, 0, 1, 1)),))
    assert marked == '<mark class="c-none p0">a cat<sub>1</sub></mark>'


def test_records_without_truth_are_shown_too() -> None:
    bare = shown("bare", Caption("A dog.", phrases=(Phrase(0, 5, (0,)),)))
    reader = body(report.scenes_section([bare, shown("mute"), record()], count=2))
    assert len(reader.all("img")) == 2 and not reader.all("svg") and not reader.all("mark")
    assert "A dog." in reader.text and "mute" in reader.text
    assert "no records" in report.scenes_section([]).body
    with pytest.raises(PolymodalError, match="at least one, but was asked for 0"):
        report.scenes_section([bare], 0)


def test_the_style_knows_every_colour_and_number(tmp_path: Path) -> None:
    page = whole(tmp_path, "t")
    assert all(f".c-{colour} {{" in page for colour in (*COLOURS, "none"))
    assert all(f".p{k}:hover) .b{k} " in page for k in range(LIT))
    assert "prefers-color-scheme: dark" in page


def test_facts_go_as_deep_as_they_are() -> None:
    reader = body(report.facts_section({"command": "demo", "versions": {"torch": "2", "x": None}}))
    assert len(reader.all("dl")) == 2 and reader.text == "commanddemoversionstorch2x–"
    assert body(report.facts_section([("a", 1), ("a", [1, 2])])).text == "a1a1, 2"
    assert "Nothing was noted" in report.facts_section({}).body
