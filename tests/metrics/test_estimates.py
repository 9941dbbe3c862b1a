"""Means and their deviations against repetition."""

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.metrics.estimates import Estimate, mean, over_samples


def test_the_standard_error_is_the_deviation_of_repeated_means():
    torch.manual_seed(0)
    data = 3 + 2 * torch.randn(4000, 50)
    errors = [mean(row).error for row in data]
    deviation = torch.stack([row.mean() for row in data]).std().item()
    assert sum(errors) / len(errors) == pytest.approx(deviation, rel=0.05)


def test_the_spread_is_what_other_samples_change():
    """The same data with samples drawn anew: their differences are no part of it."""
    torch.manual_seed(0)
    data = torch.linspace(-50, 50, 8)
    scale = torch.linspace(0.5, 3, 8)
    repeated = [over_samples(data + scale * torch.randn(20, 8)) for _ in range(2000)]
    deviation = torch.tensor([one.value for one in repeated]).std().item()
    typical = sum(one.spread for one in repeated) / len(repeated)
    assert typical == pytest.approx(deviation, rel=0.05)
    assert repeated[0].error == pytest.approx(data.std().item() / 8**0.5, rel=0.05)


def test_what_one_sample_or_one_datum_cannot_tell_is_left_out():
    assert mean(torch.tensor([2.0])) == Estimate(value=2.0, error=None)
    assert mean(torch.tensor([2.0])).named("kl") == {"kl": 2.0}
    assert over_samples(torch.tensor([[1.0, 3.0]])).named("kl") == {"kl": 2.0, "kl_error": 1.0}
    assert over_samples(torch.tensor([[1.0], [3.0]])).named("kl") == {"kl": 2.0, "kl_spread": 1.0}


def test_sums_do_not_lose_digits_to_single_precision():
    values = torch.full((100_000,), 75716.48)
    assert mean(values).value == pytest.approx(values[0].item(), abs=1e-6)


def test_nothing_has_no_mean():
    with pytest.raises(PolymodalError, match=r"nothing to take the mean of: .* shape \(0,\)"):
        mean(torch.zeros(0))
    with pytest.raises(PolymodalError, match=r"shape \(3, 0\)"):
        over_samples(torch.zeros(3, 0))
