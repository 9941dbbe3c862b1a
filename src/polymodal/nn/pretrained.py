"""Weights of transformers models, by hub id or folder, and of a part of a run's model."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torch import Tensor

from polymodal.base.errors import PolymodalError


def take_weights(model: Any, source: str) -> None:
    """Give a model the weights at a hub id or folder.

    They are copied into the model that is there, which so keeps its mode, its precision and which of
    its weights may move: transformers gives a new one that is in evaluation mode.
    """
    try:
        with one_tower():
            pretrained = type(model).from_pretrained(source, config=model.config)
    except OSError as error:
        raise PolymodalError(f"{source!r} has no weights that could be loaded: {error}") from error
    model.load_state_dict(pretrained.state_dict())


@contextlib.contextmanager
def one_tower() -> Iterator[None]:
    """Keep transformers from listing the other tower's weights, which are not wanted, and from its bars."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def is_run(source: str) -> bool:
    """Whether this is the folder of a run."""
    return (Path(source) / "learned.json").is_file()


def learned_by_run(run: str, part: str) -> dict[str, Any]:
    """The description of a part of a run's model."""
    learned = json.loads((Path(run) / "learned.json").read_text("utf-8"))
    if part not in learned:
        raise PolymodalError(
            f"{run} is a run whose model has no part {part!r}, only {', '.join(learned)}. Give a run of "
            "`polymodal train mlm`, or a transformers model by hub id or folder."
        )
    description: dict[str, Any] = learned[part]
    return description


def weights_of_run(run: str, part: str) -> dict[str, Tensor]:
    """The best weights of a part of a run's model."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    path, start = Path(run) / "model.safetensors", f"{part}."
    try:
        weights = load_file(path)
    except (OSError, SafetensorError) as error:
        raise PolymodalError(
            f"{path} has no weights that could be loaded ({error}). Give the run's `polymodal train` "
            "command again to finish it."
        ) from error
    return {k.removeprefix(start): v for k, v in weights.items() if k.startswith(start)}
