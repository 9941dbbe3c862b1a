"""The benchmark of training learners of features runs where there is no accelerator."""

import json
from pathlib import Path

import pytest

from toys import carry_out

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PROGRAM = f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r}); import zeroshot; zeroshot.main()"


@pytest.mark.slow
def test_it_compares_three_steps(tmp_path):
    out = tmp_path / "found.json"
    small = (
        "--size 64 --slim 16 --batch 8 --steps 1 --rounds 1 --images 70 --workers 0 --no-compile"
    )
    shown = carry_out(PROGRAM, *small.split(), "--out", str(out))
    assert "Ours / plain" in shown
    found = json.loads(out.read_text())
    assert [row["name"] for row in found["rows"]] == ["plain", "recorded", "ours"]
    for row in found["rows"]:  # two pictures are encoded for each of a batch
        metrics = row["metrics"]
        assert metrics["images_a_second"] == pytest.approx(16 / metrics["seconds"])
        assert metrics["busy"] is None
    assert found["ratio"] == found["ratios"][0]
    assert found["protocol"]["encoder"] == "basic"
