"""Models that come with the package, each a folder here, loaded by its name.

config.yaml, learned.json   as in a run
model.safetensors           the best weights, matrices as int8 (`packed_weights`); loaded as float32
card.md                     how it was trained, its figures, its limits
manifest.json               the SHA-256 of all but the card, checked whenever the model is loaded
"""

import json
from pathlib import Path

from polymodal.base.errors import PolymodalError, unknown
from polymodal.base.files import sha256
from polymodal.base.hashed_files import MANIFEST

SHIPPED = Path(__file__).parent

HASHED = ("config.yaml", "learned.json", "model.safetensors")


def names() -> list[str]:
    """Every model that is shipped."""
    return sorted(path.parent.name for path in SHIPPED.glob(f"*/{MANIFEST}"))


def find(run: Path | str) -> Path:
    """The folder of a run, or of a shipped model.

    A folder that holds a run goes before a shipped model of the same name: whoever trained one there
    means that one. A folder that holds something else does not.
    """
    if not isinstance(run, str | Path):
        raise PolymodalError(
            f"A run is named by its directory, as 'runs/a', or as a shipped model, not {run!r}."
        )
    folder = Path(run)
    if (folder / "config.yaml").exists():
        return folder
    if str(run) in names():
        return checked(SHIPPED / str(run))
    if folder.exists():
        return folder  # a run that has not come so far, of which `Run` knows more
    shipped = f" {unknown('shipped model', str(run), names())}" if names() else ""
    raise PolymodalError(
        f"{run} is no run: there is no such directory.{shipped} Give the directory of a run that "
        "`polymodal train` left, or the name of a model that comes with Polymodal."
    )


def checked(folder: Path) -> Path:
    """A shipped model's folder, if it is as it was shipped."""
    try:
        hashes = dict(json.loads((folder / MANIFEST).read_text("utf-8"))["sha256"])
    except (ValueError, KeyError, TypeError) as error:
        raise altered(folder, MANIFEST) from error
    for name in HASHED:
        path = folder / name
        if not path.is_file() or sha256(path) != hashes.get(name):
            raise altered(folder, name)
    return folder


def altered(folder: Path, name: str) -> PolymodalError:
    """What to do about a file that is not what was shipped."""
    return PolymodalError(
        f"The shipped model {folder.name} is not as it was shipped: {folder / name} is missing or was "
        f"altered, by the SHA-256 in its {MANIFEST}. Install Polymodal again."
    )
