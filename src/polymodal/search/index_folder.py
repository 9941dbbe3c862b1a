"""An index on disk: written whole or not at all, and checked when it is opened.

embeddings.safetensors   points, or mean and log_var
items.jsonl              an item a line: id, captions, picture, metadata
lifts.safetensors        how queries are lifted for FAISS: frame and scales
lift-0.faiss, …          what FAISS searches, for each lift
index.json               written last: what it is, where it comes from, how sure its answers are, and the
                         size and SHA-256 of each of the others
"""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from polymodal.base import files
from polymodal.base.config import from_settings
from polymodal.base.errors import PolymodalError
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.similarity import Embeddings
from polymodal.maths.similarity.kinds import kind_of
from polymodal.search.index import Index
from polymodal.search.index_settings import Settings
from polymodal.search.items import Items
from polymodal.search.lifts import QueryLift
from polymodal.search.nearest import Nearest, engine
from polymodal.search.origin import Origin
from polymodal.search.remote import Remote, store_named
from polymodal.search.sureness import Calibration
from polymodal.search.tensors import (
    read_embeddings,
    read_tensors,
    write_embeddings,
    write_tensors,
)

FORMAT = "polymodal index 1"
NAME = "index.json"
EARLIER = (
    "the index has the calibration of an earlier version, which claimed too much; repeat its `polymodal "
    "index` command to calibrate it again"
)
AGAIN = "Build the index again, or copy it again from where it is whole."


def save(index: Index, folder: Path) -> None:
    """Write an index into a folder that has none."""
    folder = Path(folder)
    if (folder / NAME).exists():
        raise PolymodalError(
            f"{folder} holds an index already. Choose another folder, or delete this one."
        )
    write_embeddings(folder / "embeddings.safetensors", index.embeddings)
    files.write_bytes(folder / "items.jsonl", index.items.write())
    names = ["embeddings.safetensors", "items.jsonl"]
    if index.nearest:
        names += save_nearest(index.nearest, folder)
    about = {
        "format": FORMAT,
        "measure": index.measure,
        "side": index.side,
        "embeddings": kind_of(index.embeddings),
        "dim": index.dim,
        "count": len(index),
        "settings": asdict(index.settings),
        "origin": index.origin and asdict(index.origin),
        "calibration": written(index.calibration),
        "collection": index.nearest.about if isinstance(index.nearest, Remote) else None,
        "files": {name: described(folder / name) for name in names},
    }
    files.write_json(folder / NAME, about)


def save_calibration(folder: Path, calibration: Calibration | str) -> None:
    """Give an index that is there another calibration."""
    about = read_about(folder) | {"calibration": written(calibration)}
    files.write_json(folder / NAME, about)


def written(calibration: Calibration | str) -> dict[str, Any] | str:
    """A calibration as plain values, or why there is none."""
    return calibration if isinstance(calibration, str) else asdict(calibration)


def described(path: Path) -> dict[str, Any]:
    """A file's size and hash."""
    return {"bytes": path.stat().st_size, "sha256": files.sha256(path)}


def save_nearest(nearest: Nearest | Remote, folder: Path) -> list[str]:
    """Write how queries are lifted, and what FAISS searches; give the names of the files."""
    frame, scales = nearest.lift.frame, nearest.lift.scales
    named = {f"scale.{place}": scale for place, scale in enumerate(scales)}
    named |= {"frame.mean": frame.mean, "frame.log_var": frame.log_var}
    write_tensors(folder / "lifts.safetensors", named)
    if isinstance(nearest, Remote):
        return ["lifts.safetensors"]
    faiss = engine()
    names = [f"lift-{place}.faiss" for place in range(len(nearest.parts))]
    for name, part in zip(names, nearest.parts, strict=True):
        with files.atomic(folder / name) as file:
            faiss.write_index(part, faiss.PyCallbackIOWriter(file.write))
    return ["lifts.safetensors", *names]


def open_index(folder: Path | str) -> Index:
    """Open an index that `save` left; refuse one that is damaged, saying why."""
    folder = Path(folder)
    about = read_about(folder)
    try:
        return assemble(folder, about)
    except PolymodalError as error:
        raise PolymodalError(f"The index in {folder} cannot be used. {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PolymodalError(f"{folder / NAME} is damaged ({error!r}). {AGAIN}") from error


def read_about(folder: Path) -> dict[str, Any]:
    """The index's own description."""
    path = folder / NAME
    if not path.is_file():
        if any(folder.glob("parts-*")):
            raise PolymodalError(
                f"The index in {folder} is not finished. Give the same `polymodal index` command "
                "again: it goes on where it stopped."
            )
        raise PolymodalError(
            f"There is no index in {folder}: it has no {NAME}. "
            f"Make one with `polymodal index RUN --out {folder}`."
        )
    try:
        about = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise PolymodalError(f"{path} is damaged ({error}). {AGAIN}") from error
    version = about.get("format") if isinstance(about, dict) else None
    if version != FORMAT:
        raise PolymodalError(
            f"{path} should have the format {FORMAT!r}, not {version!r}. "
            "Build the index again with this version of Polymodal."
        )
    return dict(about)


def assemble(folder: Path, about: dict[str, Any]) -> Index:
    """The index of a description, each of its files checked before it is read."""
    settings = from_settings(Settings, about["settings"], str(folder / NAME))
    needed = ["embeddings.safetensors", "items.jsonl"]
    needed += ["lifts.safetensors", *faiss_files(about)] if settings.lifted else []
    check_files(folder, about["files"], needed)
    embeddings = read_embeddings(folder / "embeddings.safetensors")
    items = Items.read((folder / "items.jsonl").read_bytes())
    read = (kind_of(embeddings), *embeddings.shape, len(items))
    listed = (about["embeddings"], about["count"], about["dim"], about["count"])
    if read != listed:
        raise PolymodalError(
            f"{folder} should hold {listed[1]} {listed[0]} embeddings of width {listed[2]} and as many "
            f"items; found {read[1]} {read[0]} embeddings of width {read[2]} and {read[3]} "
            f"items. {AGAIN}"
        )
    origin = about["origin"]
    return Index(
        embeddings=embeddings,
        items=items,
        side=about["side"],
        measure=about["measure"],
        settings=settings,
        nearest=read_nearest(folder, about, settings, embeddings, items),
        calibration=read_calibration(about["calibration"]),
        origin=origin and from_settings(Origin, origin, NAME),
    )


def read_calibration(stored: dict[str, Any] | str) -> Calibration | str:
    """How sure answers are, or why that is not known; a calibration of an earlier version is left aside."""
    if isinstance(stored, str):
        return stored
    if "signal" in stored:
        return EARLIER
    return from_settings(Calibration, stored, NAME)


def check_files(folder: Path, listed: dict[str, Any], needed: Iterable[str]) -> None:
    """Compare each file with what was written."""
    for name in needed:
        path, facts = folder / name, listed[name]
        if not path.is_file():
            raise PolymodalError(f"{path} is missing. {AGAIN}")
        if path.stat().st_size != facts["bytes"]:
            raise PolymodalError(
                f"{path} should have {facts['bytes']} bytes, not {path.stat().st_size}. {AGAIN}"
            )
        if files.sha256(path) != facts["sha256"]:
            raise PolymodalError(
                f"{path} is damaged: its SHA-256 is not the one in {NAME}. {AGAIN}"
            )


def read_nearest(
    folder: Path, about: dict[str, Any], settings: Settings, embeddings: Embeddings, items: Items
) -> Nearest | Remote | None:
    """Where candidates come from, if not every item is scored."""
    if not settings.lifted:
        return None
    lifts = read_tensors(folder / "lifts.safetensors")
    frame = DiagonalGaussian(lifts["frame.mean"], lifts["frame.log_var"])
    scales = tuple(lifts[name] for name in sorted(lifts) if name.startswith("scale."))
    lift = QueryLift(about["measure"], about["side"], frame, scales)
    widths = lift.widths(embeddings)
    if settings.store:
        return Remote(
            lift, store_named(settings.store), items, about["collection"], widths, settings
        )
    parts = [engine().read_index(str(folder / name)) for name in faiss_files(about)]
    expected = [(len(items), width) for width in widths]
    sizes = [(part.ntotal, part.d) for part in parts]
    if sizes != expected:
        raise PolymodalError(
            f"FAISS should hold items × width of {expected} for each lift, not {sizes}. {AGAIN}"
        )
    return Nearest(lift, tuple(parts), settings)


def faiss_files(about: dict[str, Any]) -> list[str]:
    """The files that FAISS reads, a lift each."""
    return sorted(name for name in about["files"] if name.endswith(".faiss"))
