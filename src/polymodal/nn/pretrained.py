"""Weights of transformers models, by hub id or folder."""

import contextlib
from collections.abc import Iterator
from typing import Any

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
