"""Making a model that comes with the package from a run."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from torch import Tensor

from polymodal import systems
from polymodal.base.config import as_stored, from_settings, to_settings
from polymodal.base.errors import PolymodalError
from polymodal.base.files import sha256, write_bytes, write_json, write_text
from polymodal.base.hashed_files import MANIFEST
from polymodal.base.version import versions
from polymodal.runs import shipped
from polymodal.runs.model_card import card
from polymodal.runs.packed_weights import pack
from polymodal.runs.run_folder import Run
from polymodal.training.system import System

LARGEST = 6_000_000
"""Bytes of weights that may be shipped."""


def ship(
    run: Path | str,
    name: str,
    *,
    limits: str,
    history: str = "",
    changes: Mapping[str, Any] | None = None,
    figures: Mapping[str, str] | None = None,
    into: Path | None = None,
) -> Path:
    """Make a shipped model of a finished run, and give its folder.

    Args:
        run: the run's folder.
        name: what it is to be loaded by.
        limits: what it cannot do, in plain words, for its card.
        history: what its settings do not say of its training, likewise.
        changes: of the model's settings, which leave parts of it out: {"densities": ["aggregate",
            "prior"]} is a VLVAE without q_true(z|y).
        figures: what was measured of it as it is shipped, for its card.
        into: where its folder is made; in the package, unless told otherwise.
    """
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise PolymodalError(
            f"A shipped model is named by small letters, digits and dashes, not {name!r}."
        )
    source, changes = Run(Path(run)), changes or {}
    settings, metrics = portable(source.config), source.metrics
    module = systems.named(settings["system"])
    model = settings["model"] | as_stored(module.Config, changes)
    config = from_settings(module.Config, model, "the model to ship")
    system = module.build(config, source.learned)
    content = packed(weights_of(source, system), name)
    folder = (into or shipped.SHIPPED) / name
    kept = settings | {"model": to_settings(config)}
    write_text(folder / "config.yaml", yaml.safe_dump(kept, sort_keys=False, allow_unicode=True))
    write_json(folder / "learned.json", source.learned)
    write_bytes(folder / "model.safetensors", content)
    page = card(name, system, settings, metrics, limits, history, changes, figures or {})
    write_text(folder / "card.md", page)
    write_manifest(folder)
    return folder


def portable(settings: dict[str, Any]) -> dict[str, Any]:
    """A run's config that names no folder of the machine it was trained on."""
    elsewhere = [key for key in ("init", "features", "regions") if settings.get(key)]
    named = {key: Path(settings[key]).name for key in elsewhere}
    parts = {part: Path(run).name for part, run in settings.get("parts", {}).items()}
    return settings | named | ({"parts": parts} if parts else {})


def weights_of(run: Run, system: System) -> dict[str, Tensor]:
    """Those weights of a run that a system has."""
    wanted, weights = system.state_dict(), run.weights()
    lost = [k for k, v in wanted.items() if k not in weights or weights[k].shape != v.shape]
    if lost:
        raise PolymodalError(
            f"{run.folder} has no weights that fit {', '.join(lost[:3])}. What is shipped can leave "
            "out parts of its run, but not change them."
        )
    return {name: weights[name] for name in wanted}


def packed(weights: Mapping[str, Tensor], name: str) -> bytes:
    """Weights as safetensors, if they are small enough to ship."""
    from safetensors.torch import save

    small = pack(weights)
    content: bytes = save(small, metadata={"format": "pt"})
    if len(content) <= LARGEST:
        return content
    parts: dict[str, float] = {}
    for key, value in small.items():
        part = ".".join(key.split(".")[:2])
        parts[part] = parts.get(part, 0) + value.nbytes / 1e6
    largest = sorted(parts, key=lambda part: -parts[part])[:3]
    raise PolymodalError(
        f"The weights of {name} take {len(content) / 1e6:.1f} MB, but at most {LARGEST / 1e6:g} MB are "
        f"shipped. Largest: {', '.join(f'{part} {parts[part]:.1f} MB' for part in largest)}. Leave "
        "parts out (`changes`), or train a smaller model."
    )


def repack(folder: Path) -> None:
    """Pack the weights of a shipped model again; what its card says of them is written by hand."""
    content = packed(Run(folder).weights(), folder.name)
    write_bytes(folder / "model.safetensors", content)
    write_manifest(folder)


def write_manifest(folder: Path) -> None:
    """Vouch for a shipped model; without this file there is none."""
    hashes = {file: sha256(folder / file) for file in shipped.HASHED}
    manifest = {"name": folder.name, "polymodal": versions()["polymodal"], "sha256": hashes}
    write_json(folder / MANIFEST, manifest)
