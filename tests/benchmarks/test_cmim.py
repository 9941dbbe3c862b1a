"""The benchmark of CMIM times a step with its bounds and the same step without."""

import json
from pathlib import Path

import pytest

from toys import carry_out

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PROGRAM = f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r}); import cmim; cmim.main()"
SMALL = "--size 16 --batch 4 --width 8 --levels 2 --images 8 --steps 1 --rounds 1"


@pytest.mark.slow
def test_both_steps_are_timed(tmp_path):
    out = tmp_path / "found.json"
    shown = carry_out(PROGRAM, *SMALL.split(), "--out", str(out))
    assert "A step with bounds takes" in shown
    found = json.loads(out.read_text())
    spent = {row["name"]: row["metrics"] for row in found["rows"]}
    assert list(spent) == ["with bounds", "without bounds"]
    ratio = spent["with bounds"]["seconds"] / spent["without bounds"]["seconds"]
    assert found["ratio"] == pytest.approx(ratio)
    assert spent["with bounds"]["images_a_second"] == pytest.approx(
        4 / spent["with bounds"]["seconds"]
    )
    assert found["protocol"]["modalities"] == ["flair", "t1", "t1c"]


@pytest.mark.slow
def test_operations_are_counted(tmp_path):
    out = tmp_path / "found.json"
    carry_out(PROGRAM, *SMALL.split(), "--operations", "--out", str(out))
    spent = {row["name"]: row["metrics"] for row in json.loads(out.read_text())["rows"]}
    plain = spent["without bounds"]["operations"]
    # a step has a product for the value, one for the gradient of each factor: 16 wide maps, critics of 32
    places, scores = 8 * 8, 8 * 8 * 4  # a true pair and three others, of two levels the coarse one
    for name, hidden in (("with bounds", 32), ("with bounds, critics of 512", 512)):
        beside = 6 * 3 * 2 * (places * 2 * 16 * hidden + scores * (hidden * hidden + hidden))
        beside = (beside + 2 * 3 * places * 16) / 1e9  # and the mean of three maps
        assert spent[name]["operations"] == pytest.approx(plain + beside)
        assert spent[name]["times"] == pytest.approx((plain + beside) / plain)
