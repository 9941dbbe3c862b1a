"""A hash of all that a table holds, for those that have no shorter name for it."""

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from polymodal.base import files
from polymodal.base.errors import PolymodalError
from polymodal.data.columns import Column, Labels, Masks, Targets


def fingerprint(ids: Sequence[str], columns: Mapping[str, Column], rule: str) -> str:
    """A hash of every row of every column."""
    rows = {name: [as_json(column[i]) for i in range(len(ids))] for name, column in columns.items()}
    classes: dict[str, Any] = {
        name: [column.classes, as_json(column.attributes), column.attribute_names]
        for name, column in columns.items()
        if isinstance(column, Labels)
    }
    classes |= {n: c.classes for n, c in columns.items() if isinstance(c, Masks | Targets)}
    return files.fingerprint({"ids": list(ids), "columns": rows, "classes": classes, "rule": rule})


def as_json(value: Any) -> Any:
    """A value as JSON, arrays by their hash."""
    if isinstance(value, np.ndarray | np.generic):
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return [str(value.dtype), list(value.shape), digest]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: as_json(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {str(name): as_json(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(one) for one in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise PolymodalError(
        f"A column holds {type(value).__name__}, of which no hash can be taken. Give arrays, texts, "
        "numbers or dataclasses of them, or a fingerprint of your own."
    )
