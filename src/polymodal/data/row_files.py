"""Arrays with a row for each image of a dataset, computed once: blocks that survive a kill, then files.

A folder holds `SPLIT.npy`, or one file for each of several arrays, rows in the split's order;
`statistics.npy` (mean and deviation of the training split's vectors); `ids.json` for other programs; and,
written last, `manifest.json`, with the SHA-256 of every array.

Arrays are mapped into memory, but read as a whole when they are opened: their hashes are compared, and
hashed rows need not be looked through for numbers that are not finite. Who writes into a file that is
open is not noticed before it is opened again.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polymodal.base import files
from polymodal.base.errors import PolymodalError
from polymodal.base.locks import writing
from polymodal.base.progress import progress_bar
from polymodal.data.records import Dataset

Compute = Callable[[str, Dataset, range], Iterator[Sequence[np.ndarray]]]
"""Gives the arrays of some images of a split, by the batch: of each the rows of these images."""


@dataclass(frozen=True, kw_only=True)
class RowFiles:
    """A kind of folder, and how it is written and read."""

    what: str
    """What it holds, in messages: features."""
    format: str
    """The name of its format."""
    arrays: tuple[str, ...] = ("",)
    """What the file of each array has behind the name of its split."""
    rows: int
    """Rows of a block: what is lost when the writing is killed."""
    encoder: type
    """How its manifest tells what computed the rows: by a name, or by a description."""
    told: tuple[str, ...]
    """What its manifest tells besides, such as dim."""

    def write(
        self,
        splits: Mapping[str, Dataset],
        compute: Compute,
        folder: Path,
        about: Mapping[str, Any],
        *,
        sizes: Callable[[Mapping[str, tuple[int, ...]]], Mapping[str, int]],
        statistics: Callable[..., np.ndarray],
        progress: bool = True,
        wait: bool = False,
    ) -> None:
        """Compute every row and keep it; a killed call goes on where it was.

        Where the folder already holds just this, nothing is done; other contents are refused.

        Args:
            splits: datasets by name.
            compute: gives the rows.
            folder: where to write.
            about: how they are computed, for the manifest.
            sizes: what else the manifest tells, from the shapes of the arrays.
            statistics: mean and deviation, from the arrays of the training split.
            progress: show a bar.
            wait: wait for another process that writes the folder; otherwise it is refused.
        """
        for name, split in splits.items():
            if not len(split):
                raise PolymodalError(f"The split {name!r} has no images. Leave it out.")
        known = {n: {"count": len(s), "fingerprint": s.fingerprint} for n, s in splits.items()}
        plan = {"format": self.format, **about, "splits": known}
        with writing(folder, wait=wait):
            parts = folder / f"parts-{files.fingerprint(plan)}"
            if self._is_there(folder, plan):
                shutil.rmtree(parts, ignore_errors=True)  # where a kill came before that
                return
            files.sweep(folder)
            self._compute(splits, compute, parts, progress)
            shapes = {
                f"{name}{array}": self._join(parts, f"{name}{array}", len(split), folder)
                for name, split in splits.items()
                for array in self.arrays
            }
            names = [f"{stem}.npy" for stem in shapes]
            more = sizes(shapes)
            if "train" in splits:
                train = (np.load(folder / f"train{a}.npy", mmap_mode="r") for a in self.arrays)
                with files.atomic(folder / "statistics.npy") as file:
                    np.save(file, statistics(*train))
                names.append("statistics.npy")
            hashes = {name: files.sha256(folder / name) for name in names}
            files.write_json(folder / "ids.json", {name: list(s.ids) for name, s in splits.items()})
            files.write_json(folder / "manifest.json", {**plan, **more, "sha256": hashes})
            shutil.rmtree(parts)

    def manifest(self, folder: Path) -> dict[str, Any]:
        """What a finished folder says of itself."""
        path = folder / "manifest.json"
        try:
            content: dict[str, Any] = json.loads(path.read_text("utf-8"))
        except FileNotFoundError as error:
            raise PolymodalError(
                f"{folder}: there are no finished {self.what} (no manifest.json). Compute them first."
            ) from error
        except ValueError as error:
            raise PolymodalError(f"{path}: broken ({error}). {self._again}") from error
        if not isinstance(content, dict) or content.get("format") != self.format:
            raise PolymodalError(f"{path}: expected the format {self.format!r}. {self._again}")
        flaw = self._flaw(content)
        if flaw:
            raise PolymodalError(f"{path}: broken ({flaw}). {self._again}")
        return content

    def _flaw(self, content: Mapping[str, Any]) -> str | None:
        """What a manifest lacks, or tells in another way than it is written."""
        lost = {"encoder", "dtype", "splits", *self.told} - content.keys()
        if lost:
            return f"no {', '.join(sorted(lost))}"
        if not isinstance(content.get("sha256", {}), dict):
            return "no hashes under 'sha256'"
        splits = content["splits"]
        strange = {
            "encoder": not isinstance(content["encoder"], self.encoder),
            "dtype": content["dtype"] not in ("float16", "float32"),
            "splits": not isinstance(splits, dict)
            or not all(
                isinstance(s, dict) and {"count", "fingerprint"} <= s.keys()
                for s in splits.values()
            ),
        }
        return next(
            (f"not as it is written: {name!r}" for name, is_so in strange.items() if is_so), None
        )

    def check_split(
        self, folder: Path, manifest: Mapping[str, Any], name: str, split: Dataset
    ) -> int:
        """Refuse what is not of this split; give the number of its rows."""
        kept = manifest["splits"].get(name)
        if kept is None:
            raise PolymodalError(
                f"{folder}: no {self.what} of the split {name!r}, only of "
                f"{', '.join(manifest['splits'])}. {self._again}"
            )
        if kept["fingerprint"] != split.fingerprint:
            raise PolymodalError(
                f"{folder}: the {self.what} of {name!r} are of other data: {kept['count']} images, "
                f"fingerprint {kept['fingerprint']}; the split has {len(split)}, fingerprint "
                f"{split.fingerprint}. Captions, image size or files changed: compute them again."
            )
        return int(kept["count"])

    def array(
        self, path: Path, shape: Sequence[int], dtype: str, hashes: Mapping[str, str] | None
    ) -> np.ndarray:
        """A memory-mapped array, if it is of this shape and as it was written; before there were hashes,
        if it is finite."""
        try:
            rows: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise PolymodalError(
                f"{path}: missing or cut off ({error}). Copy it again, or compute the {self.what} "
                "again."
            ) from error
        if rows.shape != tuple(shape) or rows.dtype != np.dtype(dtype):
            raise PolymodalError(
                f"{path}: expected {dtype} of shape {list(shape)}, found {rows.dtype} of "
                f"{list(rows.shape)}. {self._again}"
            )
        if hashes is None:
            self._check_finite(rows, path)
        elif files.sha256(path) != hashes.get(path.name):
            raise PolymodalError(
                f"{path}: not as it was computed, by the SHA-256 in manifest.json. Copy the folder "
                f"again, or compute the {self.what} again into another."
            )
        return rows

    def blocks(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        """All rows, a block at a time."""
        for start in range(0, len(rows), self.rows):
            yield rows[start : start + self.rows]

    def _check_finite(self, rows: np.ndarray, path: Path) -> None:
        for number, block in enumerate(self.blocks(rows)):
            bad = np.flatnonzero(~np.isfinite(block).reshape(len(block), -1).all(1))
            if len(bad):
                row = number * self.rows + int(bad[0])
                raise PolymodalError(f"{path}: row {row} is not finite. {self._again}")

    @property
    def _again(self) -> str:
        return f"Compute the {self.what} again."

    def _is_there(self, folder: Path, plan: Mapping[str, Any]) -> bool:
        """Whether this very plan is finished already; another is refused."""
        if not (folder / "manifest.json").exists():
            return False
        there = self.manifest(folder)
        if {key: there.get(key) for key in plan} != plan:
            raise PolymodalError(
                f"{folder}: it already holds {self.what} of other data or of another encoder "
                f"({there.get('encoder')}). Choose another folder, or delete this one."
            )
        return True

    def _compute(
        self, splits: Mapping[str, Dataset], compute: Compute, parts: Path, progress: bool
    ) -> None:
        """Compute every block that is not there yet, each file written whole."""
        count = sum(map(len, splits.values()))
        with progress_bar(f"Computing {self.what}", count, shown=progress) as advance:
            for name, split in splits.items():
                for start in range(0, len(split), self.rows):
                    paths = [_part(parts, f"{name}{array}", start) for array in self.arrays]
                    images = range(start, min(start + self.rows, len(split)))
                    if all(path.exists() for path in paths):
                        advance(len(images))
                        continue
                    found = []
                    for batch in compute(name, split, images):
                        found.append(batch)
                        advance(len(batch[0]))
                    for path, rows in zip(paths, zip(*found, strict=True), strict=True):
                        with files.atomic(path) as file:
                            np.save(file, np.concatenate(rows))

    def _join(self, parts: Path, stem: str, count: int, folder: Path) -> tuple[int, ...]:
        """Write the blocks of an array as one file; give its shape."""
        paths = [_part(parts, stem, start) for start in range(0, count, self.rows)]
        first = np.load(paths[0], mmap_mode="r")
        shape = (count, *first.shape[1:])
        header = {"descr": first.dtype.str, "fortran_order": False, "shape": shape}
        with files.atomic(folder / f"{stem}.npy") as file:
            np.lib.format.write_array_header_2_0(file, header)
            for path in paths:
                block = np.load(path)
                if block.shape[1:] != first.shape[1:]:
                    raise PolymodalError(
                        f"{path}: the encoder gave {list(block.shape[1:])} features here and "
                        f"{list(first.shape[1:])} before. Delete {parts} and start again."
                    )
                file.write(block.tobytes())
        return shape


def _part(parts: Path, stem: str, start: int) -> Path:
    return parts / f"{stem}-{start:09d}.npy"
