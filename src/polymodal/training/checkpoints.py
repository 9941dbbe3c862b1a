"""Checkpoints that survive: whole or absent, told good from broken by their own hash, two of them kept."""

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import torch
from lightning.fabric.plugins.io.checkpoint_io import CheckpointIO

from polymodal.base.errors import PolymodalError
from polymodal.base.files import atomic

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
        with verified(Path(path)) as file:
            checkpoint: dict[str, Any] = torch.load(
                file, map_location=map_location, weights_only=True
            )
            return checkpoint

    def remove_checkpoint(self, path: Any) -> None:
        Path(path).unlink(missing_ok=True)


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
    """The newest checkpoint that is whole; each broken one on the way is named through `say`."""
    for path in sorted(folder.glob("step-*.ckpt"), reverse=True):
        try:
            with verified(path):
                return path
        except PolymodalError as error:
            say(f"{error} Trying the one before.")
    return None


def prune(folder: Path) -> None:
    """Delete all but the newest checkpoints."""
    for path in sorted(folder.glob("step-*.ckpt"))[:-KEPT]:
        path.unlink()
