"""The benchmark of segmenting a volume calls the command on files of any size."""

import json
from pathlib import Path

import pytest

from toys import carry_out

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PROGRAM = (
    f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r}); import segmenting; segmenting.main()"
)


@pytest.mark.slow
def test_a_small_volume_is_timed(tmp_path):
    pytest.importorskip("nibabel")
    out = tmp_path / "found.json"
    small = "--grid 10 16 16 --drawn 16 --patch 8 --levels 2 --rounds 2"
    shown = carry_out(PROGRAM, *small.split(), "--out", str(out))
    assert "10×16×16, four sequences" in shown
    found = json.loads(out.read_text())
    assert len(found["calls"]) == 2
    (row,) = found["rows"]
    assert row["metrics"]["seconds"] > 0
    assert row["metrics"]["processor_seconds"] > 0
    assert found["protocol"]["overlap"] == 0.25
    assert found["target"] == 60
