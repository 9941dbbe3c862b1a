"""The benchmark of training learners of features runs where there is no accelerator."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.slow
def test_it_compares_three_steps(tmp_path):
    out = tmp_path / "found.json"
    small = (
        "--size 64 --slim 16 --batch 8 --steps 1 --rounds 1 --images 70 --workers 0 --no-compile"
    )
    command = [sys.executable, BENCHMARKS / "zeroshot.py", *small.split(), "--out", out]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "Ours / plain" in shown
    found = json.loads(out.read_text())
    assert [row["name"] for row in found["rows"]] == ["plain", "recorded", "ours"]
    for row in found["rows"]:  # two pictures are encoded for each of a batch
        metrics = row["metrics"]
        assert metrics["images_a_second"] == pytest.approx(16 / metrics["seconds"])
        assert metrics["busy"] is None
    assert found["ratio"] == found["ratios"][0]
    assert found["protocol"]["encoder"] == "basic"
