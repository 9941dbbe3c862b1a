"""Learners that compare views: two that differ in training, the middle window in testing."""

import numpy as np
import pytest
import torch

from learners import LEARNERS, made
from patches import TRAIN


@pytest.mark.parametrize("name", ["vicreg", "dino"])
def test_views_are_drawn_in_training_alone(name):
    system = made(name, **LEARNERS[name])
    images = system.examples(TRAIN).batch(np.arange(0, 96, 6)).images
    first, second = (system.train().see(images).seen for _ in range(2))
    assert first.shape == second.shape == (16, 3, 35, 35)
    assert not torch.equal(first, second)
    assert first.min() >= -1
    assert first.max() <= 1
    assert torch.equal(system.eval().see(images).seen, made("fc").eval().see(images).seen)
