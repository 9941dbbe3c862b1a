"""Pages about encoders: what stands on them, and that nothing on them is taken for markup."""

import pytest
from test_pages import HOSTILE, Reader

from polymodal.diagnosis.comparison import Comparison
from polymodal.diagnosis.diagnosing import Diagnosis
from polymodal.views.diagnosis_pages import write_comparison, write_diagnosis
from polymodal.views.scatter_svg import around, scatter


def diagnosis(name, **metrics):
    return Diagnosis(
        name=name,
        metrics=metrics,
        skipped={"ratio": "it is not known where the images have their parts"},
        protocol={"encoder": name},
        trends={"ssim": [(0.1, 0.5), (0.2, 0.7)]},
    )


def test_one_encoder(tmp_path):
    path = tmp_path / "page.html"
    write_diagnosis(path, diagnosis(HOSTILE, zsl_top1=12.0, parts_f1=0.25, f1_left_eye=0.5))
    page = Reader(path.read_text("utf-8"))
    assert not page.all("script")
    for words in ("Parts F1", "left eye", "0.25", "Not measured: ratio: it is not known where"):
        assert words in page.text
    assert len(page.having("figure", "plot")) == 1


def test_several_encoders(tmp_path):
    path = tmp_path / "page.html"
    several = [
        diagnosis(name, zsl_top1=accuracy, tre_ratio=ratio, parts_f1=0.1)
        for name, accuracy, ratio in ((HOSTILE, 9.0, 0.9), ("b", 21.0, 0.8), ("c", 30.5, 0.6))
    ]
    write_comparison(path, Comparison(several))
    page = Reader(path.read_text("utf-8"))
    assert not page.all("script")
    assert len(page.having("figure", "plot")) == 2
    assert len(page.having("circle", "dot")) == 6
    assert "TRE ratio: r = -0.9" in page.text
    assert "A correlation needs" not in page.text


def test_two_encoders_or_none_to_compare(tmp_path):
    path = tmp_path / "page.html"
    write_comparison(path, Comparison([diagnosis("a", zsl_top1=1.0, tre_ratio=1.0)] * 2))
    assert "A correlation needs three encoders or more." in path.read_text("utf-8")
    write_comparison(path, Comparison([diagnosis("a", mi_nats=1.0)]))
    assert "Nothing to set against it." in path.read_text("utf-8")


@pytest.mark.parametrize(
    "points",
    [[(5.0, 0.5)], [(5.0, 0.5), (5.2, 0.5)], [(0.0, -1.0), (90.0, 3.0)], [(6.5, 0.0)]],
)
def test_all_points_lie_within_the_axes(points):
    axes = around(points)
    for x, y in points:
        assert axes.x[0] < x < axes.x[1]
        assert axes.y[0] < y < axes.y[1]
    drawn = scatter("title", {str(k): point for k, point in enumerate(points)}, "x")
    page = Reader(drawn)
    assert len(page.having("circle", "dot")) == len(points)
    assert len(page.having("text", "mid")) >= 3  # the name of the axis, and numbers


def test_points_that_are_none():
    assert scatter("title", {"a": (1.0, float("nan"))}, "x") == ""
