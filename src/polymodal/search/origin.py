"""Where an index comes from: the model that embedded it and the data that were embedded."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The model and the data of an index."""

    model: str
    """The model's fingerprint."""
    run: str
    """The run directory that it was loaded from."""
    data: str
    """The dataset, named as in `polymodal train`."""
    splits: dict[str, str]
    """Its splits that were embedded, each with its fingerprint."""
    features: str | None = None
    skip_bad: bool = False


def fingerprint(weights: Mapping[str, Tensor], settings: Any) -> str:
    """A SHA-256 of a model: its weights by name, and its settings as JSON.

    >>> a = fingerprint({"w": torch.ones(2)}, {"lr": 1})
    >>> a == fingerprint({"w": torch.ones(2)}, {"lr": 1}), a == fingerprint({"w": torch.ones(3)}, {})
    (True, False)
    """
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for name in sorted(weights):
        tensor = weights[name].detach().cpu().contiguous()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()
