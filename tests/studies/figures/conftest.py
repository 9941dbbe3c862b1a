"""Small worlds and small systems, untrained: a figure's numbers are checked, not a model's."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from polymodal.data.drawn.scenes import named
from polymodal.data.drawn.scenes.scene_split import Split
from polymodal.data.records import Dataset
from polymodal.systems.vlvae.vlvae import Config, build, learn
from polymodal.systems.vlvae.vlvae_module import VLVAE

TINY = Config(latent=3, code=8, width=4, downsampling=8, flow_hidden=8, transforms=1)


@pytest.fixture(scope="session")
def one() -> dict[str, Dataset]:
    return named("one-object", size=16, train=4, val=24, test=0).splits()


@pytest.fixture(scope="session")
def two() -> dict[str, Dataset]:
    return named("two-objects", size=16, train=8, val=12, test=0).splits()


@pytest.fixture(scope="session")
def empty(two) -> Dataset:
    """A split of no images."""
    val = two["val"]
    return Split(val.world, val.name, val.items[:0], val.source)


@pytest.fixture(scope="session")
def vlvae() -> Callable[..., VLVAE]:
    """A system for the words of a split, whose decoders and flows tell latents and texts apart."""

    def make(train: Dataset, **changes) -> VLVAE:
        config = replace(TINY, **changes)
        torch.manual_seed(0)
        system = build(config, learn(config, train))
        with torch.no_grad():
            for name, parameter in system.named_parameters():
                if "encoder" not in name:
                    parameter.add_(0.3 * torch.randn_like(parameter))
        return system.eval()

    return make


@pytest.fixture(scope="session")
def flat(one, vlvae) -> VLVAE:
    """A system of two dimensions for one-object."""
    return vlvae(one["val"], latent=2)
