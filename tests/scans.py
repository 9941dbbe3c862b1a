"""Small scans of several modalities: discs that flair shows plainly, t2 half and t1 hardly."""

import numpy as np
import torch

from polymodal.data.batch_order import Order
from polymodal.data.columns import Each, Stored
from polymodal.data.groups import by_group
from polymodal.data.records import Dataset

CONTRAST = {"flair": 3.0, "t1": 1.0, "t2": 1.5}
PER_PATIENT = 3

SMALL = {"width": 8, "levels": 3, "lr": 1e-2, "augment": False}
"""Settings of a U-Net that trains in a second."""

INFORMED = {"critic_hidden": 16}
"""Those of its bounds."""


def scans(
    count: int = 48,
    *,
    side: int = 16,
    dims: int = 2,
    names: tuple[str, ...] = ("flair", "t1"),
    classes: int = 1,
    lacking: dict[str, int] | None = None,
    seed: int = 0,
) -> Dataset:
    """Scans with a disc each, class by class.

    Args:
        count: items, three of a patient.
        side: of the grid.
        dims: 2 or 3.
        names: the modalities.
        classes: labels besides 0; a disc has one of them.
        lacking: modalities, and that every so-manyth item lacks them.
        seed: another seed, other discs.
    """
    chance = np.random.default_rng(seed)
    axes = np.stack(np.meshgrid(*[np.arange(side)] * dims, indexing="ij"))
    centres = chance.uniform(side * 0.3, side * 0.7, (count, dims))
    away = np.linalg.norm(axes[None] - centres.reshape(count, dims, *[1] * dims), axis=1)
    labels = 1 + np.arange(count) % classes
    mask = (away < side * 0.2) * labels.reshape(-1, *[1] * dims)
    columns: dict = {"mask": Stored(mask.astype(np.uint8))}
    for name in names:
        noise = 0.5 * chance.normal(size=(count, 1, *[side] * dims))
        values = (noise + CONTRAST[name] * mask[:, None] + 5).astype(np.float32)
        present = None
        if lacking and name in lacking:
            present = np.arange(count) % lacking[name] != 0
            values[~present] = np.nan  # which must never be looked at
        columns[name] = Stored(values, present=present)
    columns["group"] = Each.of([f"patient {i // PER_PATIENT}" for i in range(count)])
    return Dataset(columns, fingerprint=f"scans {count} {side} {dims} {names} {classes} {seed}")


def scan_splits(**how) -> dict[str, Dataset]:
    """Train, val and test, no patient in two of them."""
    return by_group(scans(**how), {"train": 0.6, "val": 0.2, "test": 0.2})


def made(module, train: Dataset, **settings):
    """A small system at its start."""
    config = module.Config(**SMALL | settings)
    torch.manual_seed(0)
    system = module.build(config, module.learn(config, train))
    system.start(train)
    return system


def trained(module, train: Dataset, steps: int = 60, **settings):
    """The same after some steps of batches of 8."""
    system = made(module, train, **settings)
    examples = system.examples(train)
    order = Order(examples=len(examples), batch_size=8, seed=0)
    adam = system.configure_optimizers()
    for step in range(steps):
        system.train()
        system.clock.step = step
        adam.zero_grad()
        system.training_step(examples.batch(order.at(step)), step)["loss"].backward()
        adam.step()
    return system
