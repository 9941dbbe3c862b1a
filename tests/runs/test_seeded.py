"""A seeded run of each kind of system has the weights that it always had."""

import json

import pytest

from seeded import KNOWN, RUNS, digest, machine, norms, trained


@pytest.mark.parametrize("system", RUNS)
def test_a_seeded_run_has_the_weights_that_it_always_had(system, squares, tmp_path):
    """Bit for bit on the machine where they were kept, elsewhere up to rounding, which Adam's first
    steps can blow up to the size of a step."""
    known = json.loads(KNOWN.read_text())
    weights = trained(system, squares, tmp_path)
    own = known["systems"][system]
    assert norms(weights) == {
        k: pytest.approx(v, rel=0.05, abs=0.05) for k, v in own["norms"].items()
    }
    if machine() == known["machine"]:
        assert digest(weights) == own["digest"]
