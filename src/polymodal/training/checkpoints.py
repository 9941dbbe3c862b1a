"""Checkpoints that survive: whole or absent, told good from broken by their own hash, two of them kept."""

import contextlib
import hashlib
import pickle
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import torch
from lightning.fabric.plugins.io.checkpoint_io import CheckpointIO
from lightning.pytorch.utilities.memory import is_oom_error

from polymodal.base.errors import PolymodalError
from polymodal.base.files import atomic, sweep
from polymodal.nn.finite import first_unfinite

MAGIC = b"polymodal checkpoint 1 sha256 "
HEADER = len(MAGIC) + 64 + 1
KEPT = 2


class SafeCheckpoints(CheckpointIO):
    """Lightning's checkpoints behind a header with their SHA-256; read without unpickling objects."""

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None
    ) -> None:
        with atomic(Path(path)) as file:
            file.write(b" " * HEADER)
            torch.save(checkpoint, file)
            file.seek(HEADER)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            file.write(MAGIC + digest.encode() + b"\n")

    def load_checkpoint(
        self, path: Any, map_location: Any = None, weights_only: bool | None = None
    ) -> dict[str, Any]:
        with verified(Path(path)) as file, warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Detected pickle protocol")
            try:
                found = torch.load(file, map_location=map_location or "cpu", weights_only=True)
            except UNREADABLE as error:  # torch's words advise to run what is in the file
                if is_oom_error(error):
                    raise
                raise foreign(path) from error
        if not isinstance(found, dict):
            raise foreign(path)
        return found

    def remove_checkpoint(self, path: Any) -> None:
        Path(path).unlink(missing_ok=True)


UNREADABLE = (
    pickle.UnpicklingError,
    RuntimeError,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
)
"""What torch raises for a file that is none of its own, or holds more than tensors and plain values."""


def foreign(path: Any) -> PolymodalError:
    """What to say of a file that no training has written."""
    return PolymodalError(
        f"{path} is no checkpoint of a training: it holds something else than tensors and plain values. "
        "Nothing of it was run."
    )


@contextlib.contextmanager
def verified(path: Path) -> Iterator[BinaryIO]:
    """Open a checkpoint behind its header, or say that it is broken."""
    with path.open("rb") as file:
        header = file.read(HEADER)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        if header != MAGIC + digest.encode() + b"\n":
            raise PolymodalError(
                f"The checkpoint {path} is cut off or altered: its content does not have the hash "
                "in its first line."
            )
        file.seek(HEADER)
        yield file


def checkpoint_path(folder: Path, step: int) -> Path:
    """Where the checkpoint after `step` steps lies.

    >>> checkpoint_path(Path("run"), 200).name
    'step-00000200.ckpt'
    """
    return folder / f"step-{step:08d}.ckpt"


def step_of(path: Path) -> int:
    """The step that a checkpoint was taken after."""
    return int(path.stem.removeprefix("step-"))


def newest(folder: Path, say: Callable[[str], None]) -> Path | None:
    """The newest checkpoint that is good; each bad one on the way is named through `say`."""
    paths = sorted(folder.glob("step-*.ckpt"))
    while paths:
        path = paths.pop()
        bad = flaw(path)
        if bad is None:
            return path
        next_one = "Trying the one before." if paths else "There is none before it."
        say(f"{bad} {next_one}")
    return None


def flaw(path: Path) -> str | None:
    """Why training cannot go on from a checkpoint, or None if it can."""
    try:
        weights = SafeCheckpoints().load_checkpoint(path).get("state_dict")
    except PolymodalError as error:
        return str(error)
    if not isinstance(weights, dict):
        return str(foreign(path))
    name = first_unfinite(weights)
    return name and f"{path} has weights that are not finite ({name})."


def prune(folder: Path, step: int) -> None:
    """Delete all but the newest checkpoints up to a step, and what a kill has left half written. Those of
    later steps are bad, or training would have gone on from them."""
    paths = sorted(folder.glob("step-*.ckpt"))
    kept = [path for path in paths if step_of(path) <= step][-KEPT:]
    for path in paths:
        if path not in kept:
            path.unlink()
    sweep(folder)
