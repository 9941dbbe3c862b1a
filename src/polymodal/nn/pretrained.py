"""Weights of transformers models, by hub id or folder, and of a part of a run's model."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.base.hashed_files import check_hash, read_json
from polymodal.base.progress import say
from polymodal.nn.finite import check_finite, first_unfinite


def take_weights(model: Any, source: str, unused: str | None = None) -> None:
    """Give a model the weights at a hub id or folder.

    They are copied into the model that is there, which so keeps its mode, its precision and which of
    its weights may move: transformers gives a new one that is in evaluation mode.

    Args:
        model: what takes them.
        source: the hub id or folder.
        unused: how the names of weights begin that may be missing, since nothing reads their output.
    """
    try:
        pretrained = load_model(type(model), source, unused, config=model.config)
    except broken() as error:
        raise PolymodalError(
            f"{source!r} has no weights that could be loaded: {reason(error)}"
        ) from error
    model.load_state_dict(pretrained.state_dict())


def load_model(kind: Any, source: str, unused: str | None = None, **how: Any) -> Any:
    """A model of transformers with its weights, of which none is silently another than it was trained to."""
    with one_tower():
        model, told = kind.from_pretrained(source, output_loading_info=True, **how)
    missing = sorted(key for key in told["missing_keys"] if not (unused and key.startswith(unused)))
    if missing:
        few = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
        say(
            f"Weights that are not in the files of {source} begin at random ({len(missing)}): {few}."
        )
    name = first_unfinite(model.state_dict())
    if name:
        raise PolymodalError(
            f"The weights {name} of {source!r} are not finite. Copy or download them again."
        )
    return model


@contextlib.contextmanager
def building(source: str | None) -> Iterator[None]:
    """Say of a description by which no model can be built where it is from."""
    try:
        yield
    except broken() as error:
        raise PolymodalError(
            f"The config.json of {source!r} describes no model that can be built: {reason(error)} Copy "
            "or download it again."
        ) from error


def broken() -> tuple[type[Exception], ...]:
    """What transformers raises where the files of a model are missing, cut off or of another kind."""
    from pickle import UnpicklingError

    from huggingface_hub.errors import StrictDataclassError
    from safetensors import SafetensorError

    usual = (OSError, ValueError, RuntimeError, TypeError, KeyError, EOFError)
    return *usual, UnpicklingError, SafetensorError, StrictDataclassError


def reason(error: Exception) -> str:
    """Why, without the advice to run what comes from elsewhere."""
    from pickle import UnpicklingError

    if isinstance(error, UnpicklingError):
        return "its file holds something else than tensors. Nothing of it was run."
    if "trust_remote_code" in str(error):
        return "it needs code of its own, which is not run."
    if "ignore_mismatched_sizes" in str(error):
        return "the shapes of its weights are not those that its config.json tells."
    return str(error)


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
    path = Path(run) / "learned.json"
    learned = read_json(path)
    check_hash(path)
    if part not in learned:
        raise PolymodalError(
            f"{run} is a run whose model has no part {part!r}, only {', '.join(learned)}. Give a run of "
            "`polymodal train mlm`, or a transformers model by hub id or folder."
        )
    found: dict[str, Any] = learned[part]
    return found


def weights_of_run(run: str, part: str) -> dict[str, Tensor]:
    """The best weights of a part of a run's model."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    path, start = Path(run) / "model.safetensors", f"{part}."
    if path.exists():
        check_hash(path)
    try:
        weights = load_file(path)
    except (OSError, SafetensorError) as error:
        raise PolymodalError(
            f"{path} has no weights that could be loaded ({error}). Give the run's `polymodal train` "
            "command again to finish it."
        ) from error
    check_finite(weights, path)
    return {k.removeprefix(start): v for k, v in weights.items() if k.startswith(start)}
