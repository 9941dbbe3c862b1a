"""Small learners of features for tests, on pictures of two colours."""

import torch

from patches import TRAIN
from polymodal import systems
from polymodal.training.system import Clock

SMALL = {"dim": 64, "slim": 8, "lr": 3e-3, "fit_steps": 300, "fit_lr": 1e-2}
LEARNERS = {
    "fc": {}, "pn": {}, "dim": {"critic": "concat-and-convolve", "critic_hidden": 32},
    "cmdim": {"bound": "infonce", "critic_hidden": 32}, "vae": {"code": 16},
    "aae": {"code": 16, "hidden": 32},
    "amdim": {"critic_hidden": 32}, "vicreg": {"expander": 64},
    "dino": {"hidden": 64, "code": 32, "outputs": 64, "momentum": 0.9},
}  # fmt: skip


def made(name, **changes):
    """A learner that has seen where it starts from."""
    module = systems.system_named(name)
    torch.manual_seed(0)
    config = module.Config(**{**SMALL, **changes})
    system = module.build(config, module.learn(config, TRAIN))
    system.start(TRAIN)
    system.clock = Clock(last=60)
    return system
