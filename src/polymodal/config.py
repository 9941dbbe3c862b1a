"""Configs: frozen dataclasses to and from plain settings."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, TypeVar

from polymodal.errors import unknown

C = TypeVar("C")


def to_settings(config: Any) -> dict[str, Any]:
    """A config as plain values, for YAML."""
    return json.loads(json.dumps(dataclasses.asdict(config), default=str))


def from_settings(kind: type[C], settings: Mapping[str, Any], where: str) -> C:
    """A config from plain values; an unknown name is an error that names the nearest known one."""
    known = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    for name in settings:
        if name not in known:
            raise unknown(f"setting in {where}:", name, known)
    return kind(**settings)
