"""The benchmarks of grounding: two ways to the same loss, and what an answer costs."""

import json
from pathlib import Path

import pytest

from toys import carry_out

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PATH = f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r}); "
PROGRAM = PATH + "import grounding; grounding.main()"
USE = PATH + "import ground; ground.main()"


@pytest.mark.slow
def test_both_steps_are_timed(tmp_path):
    out = tmp_path / "found.json"
    carry_out(PROGRAM, "--quick", "--rounds", "1", "--out", str(out))
    found = json.loads(out.read_text())
    assert [row["name"] for row in found["rows"]] == ["two products", "attended vectors"]
    ours, plain = (row["metrics"]["seconds"] for row in found["rows"])
    assert found["faster"] == pytest.approx(plain / ours)
    assert found["memory"] < 1


@pytest.mark.slow
def test_an_answer_and_its_regions_are_timed(tmp_path):
    out = tmp_path / "found.json"
    carry_out(USE, "--quick", "--rounds", "1", "--out", str(out))
    found = json.loads(out.read_text())
    spent = {row["name"]: row["metrics"]["seconds"] for row in found["rows"]}
    assert found["regions"] == 9
    assert found["regions_a_second"] == pytest.approx(9 / spent["regions"])
    assert found["faster"] == pytest.approx(spent["crop by crop"] / spent["crops together"])
