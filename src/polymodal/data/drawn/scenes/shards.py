"""Reading a drawn world back: images mapped into memory, layouts and captions from beside them."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from polymodal.data.drawn.scenes.scene_drawing import Layout
from polymodal.data.records import Caption, Images, Phrase

Said = list[tuple[Caption, ...]]


def pack(layouts: Sequence[Layout], captions: Said, digest: str) -> bytes:
    """A shard's truth as the bytes of an .npz file."""
    most = max(len(layout.bodies) for layout in layouts)
    bodies = np.zeros((len(layouts), most, layouts[0].bodies.shape[1]))
    for row, layout in zip(bodies, layouts, strict=True):
        row[: len(layout.bodies)] = layout.bodies
    plain = [
        [
            [caption.text, caption.extent, [[p.start, p.end, p.regions] for p in caption.phrases]]
            for caption in some
        ]
        for some in captions
    ]
    content = io.BytesIO()
    np.savez(
        content,
        stages=np.stack([layout.stage for layout in layouts]),
        bodies=bodies,
        counts=np.array([len(layout.bodies) for layout in layouts]),
        captions=np.frombuffer(json.dumps(plain).encode(), np.uint8),
        sha256=np.array(digest),
    )
    return content.getvalue()


class Truth:
    """The layouts and captions of one shard."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file, np.load(file) as arrays:
            self.stages, self.bodies = arrays["stages"], arrays["bodies"]
            self.counts = arrays["counts"]
            plain = json.loads(arrays["captions"].tobytes())
        self.captions: Said = [
            tuple(
                Caption(
                    text, extent, tuple(Phrase(start, end, tuple(o)) for start, end, o in phrases)
                )
                for text, extent, phrases in some
            )
            for some in plain
        ]

    def layout(self, row: int) -> Layout:
        """What is where in one scene."""
        return Layout(self.stages[row], self.bodies[row, : self.counts[row]].copy())


class Shards:
    """Images and truth of one split from its shards; each is opened when it is first needed."""

    def __init__(self, folder: Path, split: str, shard: int) -> None:
        self.folder, self.split, self.shard = folder, split, shard
        self._images: dict[int, np.ndarray] = {}
        self._truths: dict[int, Truth] = {}

    def layout(self, index: int) -> Layout:
        """What is where in one scene."""
        return self._truth(index // self.shard).layout(index % self.shard)

    def captions(self, index: int) -> tuple[Caption, ...]:
        """What is said of it."""
        return self._truth(index // self.shard).captions[index % self.shard]

    def images(self, indices: Sequence[int]) -> Images:
        """Pictures of some scenes, copied out of the mapped files."""
        rows = [self._mapped(index // self.shard)[index % self.shard] for index in indices]
        if not rows:
            return np.zeros((0, *self._mapped(0).shape[1:]), np.uint8)
        return np.stack(rows)

    def _mapped(self, number: int) -> np.ndarray:
        if number not in self._images:
            self._images[number] = np.load(self._path(number, "npy"), mmap_mode="r")
        return self._images[number]

    def _truth(self, number: int) -> Truth:
        if number not in self._truths:
            self._truths[number] = Truth(self._path(number, "npz"))
        return self._truths[number]

    def _path(self, number: int, ending: str) -> Path:
        return self.folder / f"{self.split}-{number:05d}.{ending}"

    def __getstate__(self) -> dict[str, object]:
        """Send a split to another process without what it has open."""
        return self.__dict__ | {"_images": {}, "_truths": {}}
