"""Runs as systems again."""

from pathlib import Path
from typing import Any

from polymodal import systems
from polymodal.config import from_settings
from polymodal.hardware import usable
from polymodal.runs import Run


def load(run: Path | str, device: str = "cpu") -> Any:
    """The system of a run with its best weights, ready for use.

    Args:
        run: the folder that `polymodal train` left.
        device: where its weights go, for instance "cuda".
    """
    place = usable(device)
    found = Run(Path(run))
    module = systems.named(found.config["system"])
    config = from_settings(module.Config, found.config["model"], f"{run}/config.yaml")
    system = module.build(config, found.learned)
    found.restore(system)
    return system.eval().to(place)
