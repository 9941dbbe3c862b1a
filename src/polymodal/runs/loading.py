"""Runs and shipped models as systems again."""

from pathlib import Path
from typing import Any

from polymodal import systems
from polymodal.base.config import from_settings
from polymodal.base.errors import PolymodalError
from polymodal.base.hardware import usable
from polymodal.base.hashed_files import COPY_AGAIN
from polymodal.runs import shipped
from polymodal.runs.run_folder import Run


def load(run: Path | str, device: str = "cpu") -> Any:
    """The system of a run with its best weights, ready for use.

    Args:
        run: the folder that `polymodal train` left, or the name of a shipped model.
        device: where its weights go, for instance "cuda".
    """
    return restored(Run(shipped.find(run)), device)


ABLE = {
    "generate": "vlvae --data two-objects",
    "caption": "vlvae --data two-objects",
    "recognise": "fc --data birds,size=64",
    "ground": "grounding --data scenes",
    "segment": "cmim --data phantoms",
    "classify": "findings --data xrays",
    "compose": "ocgan --data scenes --least-area 0",
}
"""What is trained to be able to do a task."""


def load_for(task: str, run: Path | str, device: str = "cpu") -> Any:
    """The system of a run that has a method of the task's name."""
    opened = Run(shipped.find(run))
    system = restored(opened, device)
    if task not in system.can:
        raise PolymodalError(
            f"{run} is a run of {opened.config['system']}, which cannot {task}. Make one that can: "
            f"`polymodal train {ABLE[task]} --run DIR`; or name a shipped model that does: "
            f"{', '.join(shipped_for(task)) or 'there is none'}."
        )
    return system


def shipped_for(task: str) -> list[str]:
    """The shipped models that have a method of the task's name."""
    return [name for name in shipped.names() if task in load(name).can]


def restored(run: Run, device: str) -> Any:
    """The system of a run with its best weights."""
    place = usable(device)
    module = systems.system_named(run.config["system"])
    config = from_settings(module.Config, run.config["model"], f"{run.folder}/config.yaml")
    system = built(module, config, run)
    run.restore(system)
    return system.eval().to(place)


def built(module: Any, config: Any, run: Run) -> Any:
    """A run's system before it has its weights."""
    learned = run.learned
    try:
        return module.build(config, learned)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise PolymodalError(
            f"{run.folder}/learned.json does not have what {run.config['system']} learns from its data "
            f"({error!r}). {COPY_AGAIN}"
        ) from error
