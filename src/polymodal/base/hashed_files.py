"""Files of a run that are known by their SHA-256, so that none is taken for another."""

import hashlib
import json
from pathlib import Path
from typing import Any

from polymodal.base.errors import PolymodalError
from polymodal.base.files import sha256, write_bytes, write_json
from polymodal.base.progress import say_once

HASHES = "hashes.json"
MANIFEST = "manifest.json"
"""Where a model that comes with the package has its hashes; they are compared when it is found."""
COPY_AGAIN = "Copy it again from where it is whole, or train again into another folder."


def write_hashed(path: Path, content: bytes) -> None:
    """Write a file and its hash.

    The hash goes first, beside that of the file whose place is taken: wherever a kill comes, the file
    that is there has its hash.
    """
    hashes = hashes_of(path.parent)
    known = [hashlib.sha256(content).hexdigest()]
    if path.exists():
        there = sha256(path)
        if there not in known and there in hashes.get(path.name, [there]):
            known.append(there)
    write_json(path.parent / HASHES, {"sha256": {**hashes, path.name: known}})
    write_bytes(path, content)


def check_hash(path: Path) -> None:
    """Refuse a file that is not the one that was written; say so of one that was written without a hash."""
    found = sha256(path)  # first: a training that goes on keeps the hash of what it replaces
    known = hashes_of(path.parent).get(path.name)
    if known is None and not (path.parent / MANIFEST).exists():
        say_once(
            f"{path.parent} has no hashes of its files (it was made by an earlier version, or {HASHES} is "
            "missing), so it is not known whether they are those that were written."
        )
    if known is not None and found not in known:
        raise PolymodalError(
            f"{path} is damaged, or not of this run: its SHA-256 is not the one in {HASHES}. {COPY_AGAIN}"
        )


def hashes_of(folder: Path) -> dict[str, list[str]]:
    """The hash of each file, and that of the file whose place it took."""
    path = folder / HASHES
    if not path.exists():
        return {}
    found = read_json(path).get("sha256")
    if not isinstance(found, dict) or not all(isinstance(known, list) for known in found.values()):
        raise PolymodalError(f"{path} is damaged: it lists no hashes. {COPY_AGAIN}")
    return found


def read_json(path: Path) -> dict[str, Any]:
    """A JSON file of a run."""
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise PolymodalError(
            f"{path} is missing: the run has not come so far. Give the same `polymodal train` "
            "command again to go on with it."
        ) from error
    except (ValueError, RecursionError) as error:
        raise PolymodalError(f"{path} is damaged ({error}). {COPY_AGAIN}") from error
    if not isinstance(found, dict):
        raise PolymodalError(
            f"{path} is damaged: it should hold names with values, not a {type(found).__name__}. "
            f"{COPY_AGAIN}"
        )
    return found
