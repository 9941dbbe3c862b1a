"""The finder `own:PATH`: boxes, and if there are any vectors, that the user computed.

PATH is a folder with `ID.npz` for each image, or one HDF5 file with a group ID for each, where ID is the
image's id with its extension or without. In either are `boxes` (k × 4: x0, y0, x1, y1 in pixels of the
images as the dataset gives them, best first) and, if there are any, `features` (k × d), which are kept beside
what the encoder says of a box.
"""

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from polymodal.base.errors import PolymodalError
from polymodal.data.formats.archive import LARGEST_FILE
from polymodal.nn.regions.finding import Found, Look

ARRAYS = ("boxes", "features")

BROKEN = (
    *(OSError, ValueError, EOFError, TypeError, MemoryError),
    *(zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error),
)
"""What reading a file may raise that is no npz file, or no good one."""


class OwnFiles:
    """The first boxes of each image; its vectors, where there are some, go with them."""

    def __init__(self, source: str, count: int) -> None:
        self.path, self.count = Path(source), count
        self.width: int | None = None
        if not self.path.exists():
            raise PolymodalError(
                f"own:{source}: there is no such folder or file. Give a folder with ID.npz for each "
                "image, or an HDF5 file with a group for each."
            )

    def find(self, look: Look) -> list[Found]:
        """The boxes of each picture."""
        dataset = look.source("own")
        _, height, width, _ = look.pictures.shape
        return [self.one(dataset.ids[row], width, height) for row in look.rows]

    def one(self, name: str, width: int, height: int) -> Found:
        """The boxes of one image."""
        place, arrays = self.read(name)
        boxes = arrays.get("boxes")
        if boxes is None or boxes.ndim != 2 or boxes.shape[1] != 4 or boxes.dtype.kind not in "fiu":
            told = f"{boxes.dtype} of shape {list(boxes.shape)}" if boxes is not None else "none"
            raise PolymodalError(f"{place}: boxes are numbers of shape [k, 4], found {told}.")
        boxes = boxes.astype(np.float32)
        right = (boxes[:, :2] >= -1).all(1) & (boxes[:, 2:] <= [width + 1, height + 1]).all(1)
        bad = np.flatnonzero(~(right & (boxes[:, :2] < boxes[:, 2:]).all(1)))
        if len(bad):
            raise PolymodalError(
                f"{place}: box {bad[0]} is {boxes[bad[0]].tolist()}, but the image is "
                f"{width}×{height}. Boxes are x0, y0, x1, y1 in pixels of the images as the dataset "
                "gives them: scale them to its size."
            )
        features = arrays.get("features", np.zeros((len(boxes), 0), np.float32))
        if features.ndim != 2 or len(features) != len(boxes) or features.dtype.kind != "f":
            raise PolymodalError(
                f"{place}: features are floats of shape [{len(boxes)}, d], a row a box, found "
                f"{features.dtype} of shape {list(features.shape)}."
            )
        if self.width not in (None, features.shape[1]):
            raise PolymodalError(
                f"{place}: each box has {features.shape[1]} features, but those of other images have "
                f"{self.width}. Give all the same."
            )
        self.width = features.shape[1]
        boxes = np.clip(boxes, 0, np.array([width, height, width, height], np.float32))
        return Found(boxes[: self.count], features[: self.count].astype(np.float32))

    def read(self, name: str) -> tuple[str, Mapping[str, Any]]:
        """Where an image's arrays are, and these."""
        known = (name, str(Path(name).with_suffix("")))
        if self.path.is_dir():
            return self.file(name, [self.path / f"{one}.npz" for one in known])
        return f"{self.path}: {name}", self.group(name, known)

    def file(self, name: str, paths: list[Path]) -> tuple[str, Mapping[str, Any]]:
        """Where an image's arrays are in a folder, and these."""
        path = next((path for path in paths if path.is_file()), None)
        if path is None:
            raise PolymodalError(
                f"{paths[0]}: there is no such file, so the image {name!r} has no boxes. Add it; it may "
                "have no rows."
            )
        try:
            with path.open("rb") as content, np.load(content, allow_pickle=False) as file:
                check_size(path, sum(part.file_size for part in file.zip.infolist()))
                return str(path), {key: np.asarray(file[key]) for key in ARRAYS if key in file}
        except BROKEN as error:
            raise PolymodalError(
                f"{path}: cut off or no npz file ({error}). Copy it again."
            ) from error

    def group(self, name: str, known: tuple[str, ...]) -> Mapping[str, Any]:
        """An image's arrays in an HDF5 file."""
        try:
            import h5py
        except ImportError as error:
            raise PolymodalError(
                f"{self.path}: HDF5 files need h5py, which is not installed. Install it with: pip "
                "install 'polymodal[regions]', or give a folder with ID.npz for each image."
            ) from error
        try:
            with h5py.File(self.path, "r") as file:
                group = next((file[one] for one in known if one in file), None)
                if not isinstance(group, h5py.Group):
                    raise PolymodalError(
                        f"{self.path}: it has no group {name!r}, so that image has no boxes. Add it; it "
                        "may have no rows."
                    )
                arrays = {key: group[key] for key in ARRAYS if key in group}
                length = sum(getattr(array, "nbytes", 0) for array in arrays.values())
                check_size(f"{self.path}: {name}", length)
                return {key: np.asarray(array) for key, array in arrays.items()}
        except OSError as error:
            raise PolymodalError(
                f"{self.path}: cut off or no HDF5 file ({error}). Copy it again."
            ) from error


def check_size(place: Path | str, length: int) -> None:
    """Refuse the arrays of an image that would fill the memory: a small file may unpack to far more."""
    if length > LARGEST_FILE:
        raise PolymodalError(
            f"{place}: the boxes and features of one image have {length:,} bytes unpacked, but at most "
            f"{LARGEST_FILE:,} are read. Is it the right file?"
        )
