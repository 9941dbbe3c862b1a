"""Drawn worlds on disk: shards of images that are mapped into memory, their truth, a manifest.

A shard is two files: `train-00003.npy` with up to a thousand images, and `train-00003.npz` with
their layouts, captions and the images' hash, written second. Masks and boxes are not kept: they
are traced again from the layouts when they are asked for, to the same bits.
"""

import dataclasses
import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from polymodal.base import files
from polymodal.base.errors import PolymodalError
from polymodal.base.locks import is_empty, writing
from polymodal.base.progress import progress_bar
from polymodal.data.drawn.scenes.world import World, named
from polymodal.data.records import Dataset

SHARD, BYTES = 1000, 2**27
"""The most images in a shard, and the most bytes of them."""

BLOCK = 50
"""Images between two moves of the progress bar."""

SPEC, MANIFEST = "spec.json", "manifest.json"


def draw(world: World, folder: Path, progress: bool = True, *, wait: bool = False) -> None:
    """Draw a world into a folder; whole shards that are there already are kept.

    A stopped draw goes on at the first shard that is missing or damaged. A folder that another process
    draws into is refused, or waited for with `wait`.
    """
    folder = Path(folder)
    with writing(folder, wait=wait):
        _claim(world, folder)
        _draw(world, folder, progress)


def _draw(world: World, folder: Path, progress: bool) -> None:
    """Draw the shards that are missing or damaged, and write the manifest last."""
    hashes: dict[str, str] = {}
    shard = max(min(SHARD, BYTES // (3 * world.size * world.size)), 1)
    count = sum(map(len, world.items.values()))
    with progress_bar(f"drawing {world.name}", count, shown=progress) as advance:
        for split, items in world.items.items():
            for number, start in enumerate(range(0, len(items), shard)):
                some = items[start : start + shard]
                path = folder / f"{split}-{number:05d}.npy"
                if not _is_whole(path, len(some)):
                    _draw_shard(world, some, path, advance)
                else:
                    advance(len(some))
                for file in (path, path.with_suffix(".npz")):
                    hashes[file.name] = files.sha256(file)
    files.write_json(folder / MANIFEST, {"spec": world.spec(), "shard": shard, "shards": hashes})


def open_drawn(folder: Path, check: bool = True) -> dict[str, Dataset]:
    """The splits of a drawn world, with the same interface as the world's own.

    Every file's hash is compared with the manifest; check=False only looks whether all are there.
    """
    from polymodal.data.drawn.scenes.scene_split import Split
    from polymodal.data.drawn.scenes.shards import Shards

    folder = Path(folder)
    world, shard, hashes = read_manifest(folder)
    for name, expected in hashes.items():
        path = folder / name
        again = f"Run the same draw into {folder} again: only what is damaged is drawn anew."
        if not path.is_file():
            raise PolymodalError(f"The drawn world lacks {path}, which its manifest lists. {again}")
        if check and files.sha256(path) != expected:
            raise PolymodalError(
                f"{path} is damaged: its SHA-256 is not the one in {MANIFEST}. {again}"
            )
    return {
        name: Split(world, name, items, Shards(folder, name, shard))
        for name, items in world.items.items()
    }


def open_world(
    name: str, *, check: bool = True, progress: bool = True, **options: Any
) -> dict[str, Dataset]:
    """A world's splits from the user's cache, drawn into it the first time (see `named`)."""
    world = named(name, **options)
    folder = files.cache_folder() / "worlds" / world.fingerprint
    if not (folder / MANIFEST).is_file():
        files.check_cache(folder)
        draw(world, folder, progress, wait=True)
    return open_drawn(folder, check)


def read_manifest(folder: Path) -> tuple[World, int, dict[str, str]]:
    """The world that a folder holds, the images in a shard, and the hash of each of its files."""
    path = folder / MANIFEST
    if not path.is_file():
        if (folder / SPEC).is_file():
            raise PolymodalError(
                f"{folder} holds a drawing that was not finished (there is no {MANIFEST}). "
                "Run the same draw into it again: it goes on where it stopped."
            )
        raise PolymodalError(
            f"{folder} is not a drawn world: it has no {MANIFEST}. "
            "Draw one there, or name the folder of one."
        )
    try:
        manifest = json.loads(path.read_text("utf-8"))
        return _world(manifest["spec"], path), int(manifest["shard"]), dict(manifest["shards"])
    except (ValueError, KeyError, TypeError) as error:
        raise PolymodalError(
            f"{path} cannot be read ({error}). Delete it and run the same draw into {folder} again."
        ) from error


def _world(spec: dict[str, Any], path: Path) -> World:
    """The world of a spec, if this version of Polymodal draws the same one."""
    fields = {field.name for field in dataclasses.fields(World)}
    world = World(**{name: value for name, value in spec.items() if name in fields})
    if world.spec() != spec:
        raise PolymodalError(
            f"{path} describes edition {spec.get('edition')} of the world {world.name!r}, but this "
            f"version of Polymodal draws edition {world.spec()['edition']}. "
            "Draw it again into another folder."
        )
    return world


def _claim(world: World, folder: Path) -> None:
    """Note the world in its folder, unless another world is there."""
    path = folder / SPEC
    if path.is_file():
        try:
            recorded = json.loads(path.read_text("utf-8"))
        except ValueError:
            recorded = None
        if recorded != world.spec():
            raise PolymodalError(
                f"{folder} holds another world ({_differences(recorded, world.spec())}). "
                "Draw into an empty folder, or delete this one."
            )
        return
    if not is_empty(folder):
        raise PolymodalError(
            f"{folder} is not empty and holds no drawn world. Draw into an empty folder."
        )
    files.write_json(path, world.spec())


def _differences(recorded: Any, asked: dict[str, Any]) -> str:
    """In which fields two specs differ."""
    if not isinstance(recorded, dict):
        return f"{SPEC} cannot be read"
    names = [name for name in asked if recorded.get(name) != asked[name]]
    return "; ".join(f"{name} is {recorded.get(name)!r}, not {asked[name]!r}" for name in names)


def _is_whole(path: Path, count: int) -> bool:
    """Whether a shard is there, and its images are those whose hash its truth file has."""
    truth = path.with_suffix(".npz")
    if not path.is_file() or not truth.is_file():
        return False
    try:
        with truth.open("rb") as file, np.load(file) as arrays:
            return len(arrays["counts"]) == count and str(arrays["sha256"]) == files.sha256(path)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return False


def _draw_shard(world: World, items: np.ndarray, path: Path, done: Any) -> None:
    """Draw one shard: its images first, then their truth, each whole or absent."""
    from polymodal.data.drawn.scenes import scene_captions, scene_drawing, shards

    images = np.empty((len(items), world.size, world.size, 3), np.uint8)
    layouts, said = [], []
    for start in range(0, len(items), BLOCK):
        some = [scene_drawing.lay_out(world, int(item)) for item in items[start : start + BLOCK]]
        images[start : start + BLOCK] = scene_drawing.paint(some, world.size)
        for item, layout in zip(items[start : start + BLOCK], some, strict=True):
            said.append(scene_captions.captions(world, int(item), layout))
        layouts += some
        done(len(some))
    content = io.BytesIO()
    np.save(content, images)
    with files.atomic(path) as file:
        file.write(content.getbuffer())
    digest = hashlib.sha256(content.getbuffer()).hexdigest()
    files.write_bytes(path.with_suffix(".npz"), shards.pack(layouts, said, digest))
