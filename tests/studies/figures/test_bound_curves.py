"""The bound against grounding: what is measured of a curve, and what is drawn of several."""

import numpy as np
import pytest
from PIL import Image

from polymodal.studies.figures.bound_curves import bound_curves, curve_metrics
from polymodal.studies.result_files import Row

CURVES = [
    {"step": 100.0, "bound": 1.0, "pointing": 40.0},
    {"step": 150.0, "loss": 2.0},
    {"step": 200.0, "bound": 2.0, "pointing": 50.0},
    {"step": 300.0, "bound": 2.5, "pointing": 65.0},
    {"step": 400.0, "bound": 3.0, "pointing": 60.0},
]


def row(name, data="scenes", seed=0, last=60.0):
    """A row whose last validation points so well."""
    curves = [*CURVES[:-1], {**CURVES[-1], "pointing": last}]
    return Row(name=name, data=data, seed=seed, metrics=curve_metrics(curves))


def test_a_curve_is_measured_at_its_peak_and_at_its_end():
    found = curve_metrics(CURVES)
    assert found["peak_step"] == 300
    assert (found["peak_pointing"], found["last_pointing"]) == (65, 60)
    assert (found["bound_at_peak"], found["last_bound"]) == (2.5, 3)
    assert found["curve_400_bound"] == 3
    assert not any("150" in name for name in found)  # a point of the loss alone
    independent = np.corrcoef([1, 2, 2.5], [40, 50, 65])[0, 1]
    assert found["r_to_peak"] == pytest.approx(independent)


def test_two_points_have_no_correlation():
    assert "r_to_peak" not in curve_metrics(CURVES[:2] + CURVES[2:3])
    flat = [{**point, "pointing": 40.0} for point in CURVES if "bound" in point]
    assert "r_to_peak" not in curve_metrics(flat)  # the first is the peak


def test_findings_are_means_over_seeds(tmp_path):
    rows = [row("linear"), row("linear", seed=1, last=50.0)]
    found = bound_curves(rows, tmp_path / "a.json")["linear, scenes"]
    assert found["bound_rises"] == pytest.approx(0.5)
    assert found["pointing_falls"] == pytest.approx(10)
    assert found["r_to_peak"] == pytest.approx(rows[0].metrics["r_to_peak"])


def test_each_dataset_has_a_line_of_panels_and_each_row_a_colour(tmp_path):
    bound_curves([row("linear")], tmp_path / "one.json")
    bound_curves([row("linear"), row("linear", "folder:a")], tmp_path / "two.json")
    bound_curves([row("linear"), row("1 hidden layer")], tmp_path / "rows.json")
    one, two, rows = (
        np.asarray(Image.open(tmp_path / f"{name}.png").convert("RGB"))
        for name in ("one", "two", "rows")
    )
    assert len(two) > 1.8 * len(one)
    orange = (0xB4, 0x54, 0x1A)
    assert (rows == orange).all(-1).sum() > 50
    assert not (one == orange).all(-1).any()
