"""Embeddings as safetensors files, whole or absent, and as parts that survive a kill."""

from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from torch import Tensor

from polymodal.base import files
from polymodal.base.errors import PolymodalError
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity import Embeddings, joined

ROWS = 1024
"""Items of a part: the most that is lost when the embedding is killed."""

AGAIN = "Build the index again."


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors by name, in float32."""
    from safetensors.torch import save

    kept = {name: rows.detach().cpu().float().contiguous() for name, rows in tensors.items()}
    with files.atomic(path) as file:
        file.write(save(kept))


def read_tensors(path: Path, advice: str = AGAIN) -> dict[str, Tensor]:
    """What `write_tensors` wrote."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return dict(load_file(path))
    except (SafetensorError, OSError) as error:
        raise PolymodalError(f"{path} is missing or damaged ({error}). {advice}") from error


def by_name(embeddings: Embeddings) -> dict[str, Tensor]:
    """Points as `points`, Gaussians as `mean` and `log_var`."""
    return {"points": embeddings} if isinstance(embeddings, Tensor) else dict(vars(embeddings))


def write_embeddings(path: Path, embeddings: Embeddings) -> None:
    """Write points or Gaussians, in float32."""
    write_tensors(path, by_name(embeddings))


def read_embeddings(path: Path, advice: str = AGAIN) -> Embeddings:
    """What `write_embeddings` wrote."""
    tensors = read_tensors(path, advice)
    if set(tensors) == {"mean", "log_var"}:
        return DiagonalGaussian(**tensors)
    if set(tensors) == {"points"}:
        return tensors["points"]
    raise PolymodalError(
        f"{path} should hold points, or mean and log_var; found {', '.join(sorted(tensors))}. "
        f"{advice}"
    )


def embed_in_parts(
    folder: Path,
    count: int,
    embed: Callable[[range], Embeddings],
    advance: Callable[[int], None] = lambda count: None,
) -> Embeddings:
    """Embed `count` items, a part at a time, each kept in `folder`; those that are there are not made again.

    Args:
        folder: where the parts are kept; its name must tell what they are parts of.
        count: how many items there are.
        embed: the embeddings of some of them.
        advance: told how many items are done.
    """
    parts = []
    for start in range(0, count, ROWS):
        places = range(start, min(start + ROWS, count))
        path = folder / f"{start:09d}.safetensors"
        if not path.exists():
            write_embeddings(path, embed(places))
        parts.append(read_embeddings(path, f"Delete {path} and give the same command again."))
        if len(parts[-1]) != len(places):
            raise PolymodalError(
                f"{path} should hold {len(places)} embeddings, not {len(parts[-1])}. "
                f"Delete {folder} and give the same command again."
            )
        advance(len(places))
    return joined(parts)


def unfinite(embeddings: Embeddings, block: int = 65536) -> int | None:
    """The place of the first item that is not all finite numbers, if there is one."""
    rows = by_name(embeddings).values()
    for start in range(0, len(embeddings), block):
        whole = torch.stack([part[start : start + block].isfinite().all(1) for part in rows])
        bad = (~whole.all(0)).nonzero()
        if len(bad):
            return start + int(bad[0])
    return None
