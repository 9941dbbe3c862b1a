"""The settings of a run as its config.yaml has them, checked before anything is done with them."""

from pathlib import Path
from typing import Any

import yaml

from polymodal.base.errors import PolymodalError, unknown

KINDS = {
    "system": str,
    "data": str,
    "features": str,
    "regions": str,
    "init": str,
    "skip_bad": bool,
    "model": dict,
    "training": dict,
    "parts": dict,
}
"""The settings of a run, each with what it must be."""
WORDS = {str: "text", bool: "true or false", dict: "settings as 'name: value' lines"}
NEEDED = ("system", "data", "model", "training")
ABSENT = {"features": None, "init": None, "skip_bad": False}
"""What runs of earlier versions may lack, and what it means then."""
ADVICE = "Bring back the file as the training wrote it, or train into another folder."


def read_yaml(path: Path, advice: str) -> dict[str, Any]:
    """A YAML file of settings."""
    try:
        settings = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise PolymodalError(f"There is no settings file at {path}.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a date that is none
        raise PolymodalError(f"{path} is not YAML: {error}. {advice}") from error
    if not isinstance(settings, dict):
        raise PolymodalError(f"{path} must hold settings as 'name: value' lines. {advice}")
    return settings


def read_config(path: Path) -> dict[str, Any]:
    """The config.yaml that a training wrote, with what those of earlier versions lack."""
    config = ABSENT | {k: v for k, v in read_settings(path, ADVICE).items() if v is not None}
    for name in NEEDED:
        if name not in config:
            raise PolymodalError(f"{path}: {name!r} is missing or null. {ADVICE}")
    if type(config["training"].get("seed")) is not int:
        raise PolymodalError(f"{path}: 'training' has no seed, a whole number. {ADVICE}")
    return config


def read_settings(
    path: Path, advice: str = "Correct the file.", also: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Some settings of a run, and others that are text, each of the kind that it must be."""
    kinds = KINDS | dict.fromkeys(also, str)
    settings = read_yaml(path, advice)
    for name, value in settings.items():
        if name not in kinds:
            raise PolymodalError(f"{unknown(f'setting in {path}:', str(name), kinds)} {advice}")
        if value is not None and not isinstance(value, kinds[name]):
            raise PolymodalError(
                f"{path}: {name!r} must be {WORDS[kinds[name]]}, not {value!r}. {advice}"
            )
    return settings
