"""Configs: frozen dataclasses to and from plain settings."""

import dataclasses
import json
import types
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from polymodal.base.errors import PolymodalError, unknown

C = TypeVar("C")

STORED = "stored"


def renamed(before: str) -> dict[str, str]:
    """The metadata of a field that had another name. Files keep it under that one, so that runs, indexes
    and results of earlier releases stay what they are; settings and flags may have either name."""
    return {STORED: before}


def stored_names(kind: Any) -> dict[str, str]:
    """The name in files of each field of a class."""
    return {
        field.name: field.metadata.get(STORED, field.name) for field in dataclasses.fields(kind)
    }


def as_stored(kind: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by their names in files, whichever names they have."""
    names = stored_names(kind)
    return {names.get(name, name): value for name, value in settings.items()}


def to_settings(config: Any) -> dict[str, Any]:
    """A config as plain values, for YAML."""
    settings = json.loads(json.dumps(dataclasses.asdict(config), default=str))
    return as_stored(config, settings)


def from_settings(kind: type[C], settings: Mapping[str, Any] | None, where: str) -> C:
    """A config from plain values; an unknown name is an error that names the nearest known one."""
    if not isinstance(settings or {}, Mapping):
        raise PolymodalError(
            f"{where} must hold settings as 'name: value' lines, not {settings!r}."
        )
    hints = get_type_hints(kind)
    fields = stored_names(kind)
    known = {stored: name for name, stored in fields.items()} | {name: name for name in fields}
    values: dict[str, Any] = {}
    for given, value in (settings or {}).items():
        if given not in known:
            raise unknown(f"setting in {where}:", str(given), fields)  # YAML has numbers for names
        name = known[given]
        if name in values:
            raise PolymodalError(
                f"{where} has both {fields[name]} and {name}, an old and a new name of one setting. "
                "Leave one out."
            )
        try:
            values[name] = fitting(hints[name], value)
        except ValueError as error:
            raise PolymodalError(f"{where}: {given} is {value!r}, but {error}.") from error
    return kind(**values)


def fitting(hint: Any, value: Any) -> Any:
    """A plain value as a field's type wants it: YAML reads 1e-4 as text and 32 as a number.

    >>> fitting(float, "1e-4"), fitting(Literal["32", "bf16"], 32), fitting(int | None, None)
    (0.0001, '32', None)
    """
    choices = get_args(hint)
    if get_origin(hint) is Literal:
        if str(value) not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return str(value)
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(choice for choice in choices if choice is not type(None))
        return None if value is None else fitting(hint, value)
    if hint is float and not isinstance(value, bool):
        try:
            return float(value)
        except (TypeError, ValueError):
            raise ValueError("must be a number") from None
    if hint in (int, bool, str) and type(value) is not hint:
        words = {int: "a whole number", bool: "true or false", str: "text"}
        raise ValueError(f"must be {words[hint]}")
    if get_origin(hint) is tuple and isinstance(value, list):
        kinds = choices[:1] * len(value) if choices[1:] == (...,) else choices
        if len(kinds) != len(value):
            raise ValueError(f"must have {len(kinds)} values")
        return tuple(map(fitting, kinds, value))
    return value
