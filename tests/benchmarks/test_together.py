"""The benchmark of learners that are trained side by side runs where there is no accelerator."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.bench
def test_it_counts_what_all_see(tmp_path):
    out = tmp_path / "found.json"
    small = "--size 64 --slim 16 --batch 8 --steps 1 --images 70 --processes 2 --system fc"
    command = [sys.executable, BENCHMARKS / "together.py", *small.split(), "--out", out]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "basic fc+AC" in shown
    found = json.loads(out.read_text())
    assert [row["name"] for row in found["rows"]] == ["2"]
    assert found["rows"][0]["metrics"]["images_a_second"] > 0
    assert found["protocol"]["compile"] is False
