"""Devices that are there, and those that are not."""

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.base.hardware import usable


def test_the_processor_is_always_there():
    assert usable("cpu") == torch.device("cpu")


@pytest.mark.parametrize("device", ["meta", "cdua", "hpu", "privateuseone", "", None])
def test_a_device_that_cannot_compute_is_refused(device):
    with pytest.raises(PolymodalError, match=f"The device {device!r} cannot be used here"):
        usable(device)
