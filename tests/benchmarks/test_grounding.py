"""The benchmark of grounding compares two ways to the same loss."""

import json
from pathlib import Path

import pytest

from toys import carry_out

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PROGRAM = f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r}); import grounding; grounding.main()"


@pytest.mark.slow
def test_both_steps_are_timed(tmp_path):
    out = tmp_path / "found.json"
    carry_out(PROGRAM, "--quick", "--rounds", "1", "--out", str(out))
    found = json.loads(out.read_text())
    assert [row["name"] for row in found["rows"]] == ["two products", "attended vectors"]
    ours, plain = (row["metrics"]["seconds"] for row in found["rows"])
    assert found["faster"] == pytest.approx(plain / ours)
    assert found["memory"] < 1
