"""Matrices as whole numbers with scales: against brute force, at the ends of the range."""

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.runs.packed_weights import pack, unpack


def nearest(weight, largest):
    """The nearest of 255 evenly spaced numbers, by trying all of them, in float64."""
    step = (largest / 127).bfloat16().double()
    return min((k * step for k in range(-127, 128)), key=lambda number: abs(number - weight))


@pytest.mark.parametrize("shape", [(3, 8), (3, 4, 2, 2)])
def test_each_weight_becomes_the_nearest_number_of_its_row(shape):
    """Of a convolution, its row and place in the kernel."""
    sizes = torch.tensor([1.0, 100, 1e-30]).view(3, *[1] * (len(shape) - 1))
    matrix = torch.randn(shape) * sizes
    found = unpack(pack({"a": matrix}))
    assert found.keys() == {"a"}
    assert found["a"].dtype == torch.float32
    rows, own = (each.movedim(1, -1).reshape(-1, shape[1]) for each in (matrix, found["a"]))
    for row, rounded in zip(rows, own, strict=True):
        best = [nearest(weight, row.abs().max()) for weight in row.double()]
        assert rounded.tolist() == pytest.approx(torch.stack(best).tolist(), rel=1e-6, abs=0)


def test_no_weight_moves_by_more_than_half_a_step():
    torch.manual_seed(0)
    matrix = torch.randn(200, 50).exp()  # a few are much larger than the others
    packed = pack({"a": matrix})
    moved = (unpack(packed)["a"] - matrix).abs() / packed["a.scale"].float()
    assert 0.49 < moved.max() <= 0.50001


def test_to_pack_what_was_packed_changes_nothing():
    packed = pack({"a": torch.randn(64, 8), "b": torch.randn(5)})
    again = pack(unpack(packed))
    assert packed.keys() == again.keys() == {"a", "a.scale", "b"}
    assert all(torch.equal(packed[name], again[name]) for name in packed)


def test_what_is_no_matrix_of_fractions_stays():
    weights = {
        "vector": torch.full((3,), 1e-9),
        "counts": torch.tensor([[3]]),
        "a.scale": torch.ones(2),  # of a module, not of a matrix
    }
    found = unpack(pack(weights))
    assert found.keys() == weights.keys()
    assert all(torch.equal(found[name], weights[name]) for name in weights)
    assert unpack(pack({"zeros": torch.zeros(2, 3)}))["zeros"].eq(0).all()


def test_weights_in_half_precision_are_read_as_before():
    halves = {"a": torch.randn(2, 3).half()}
    assert unpack(halves)["a"] is halves["a"]


def test_weights_that_are_no_numbers_are_refused():
    with pytest.raises(
        PolymodalError, match=r"^w has weights that are no numbers\. Train again\.$"
    ):
        pack({"w": torch.tensor([[1.0, float("nan")]])})
