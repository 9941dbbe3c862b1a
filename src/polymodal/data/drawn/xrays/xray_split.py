"""One split of the X-rays: films, reports, findings, drawn when they are asked for."""

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np
from jaxtyping import Float64

from polymodal.base import files
from polymodal.data.columns import Column, Each, Read, Targets
from polymodal.data.drawn.kernel.keeping import Kept
from polymodal.data.drawn.xrays.findings import CHEST, NAMES, present, signs
from polymodal.data.drawn.xrays.reports import sections
from polymodal.data.drawn.xrays.xray_spec import Spec
from polymodal.data.records import Dataset, Images


class Split(Dataset):
    """Films of some patients, whose findings are known."""

    def __init__(self, world: Spec, name: str) -> None:
        self.world, self.name, self.root = world, name, world.root(name)
        n = getattr(world, name)
        there = np.zeros((n, len(NAMES)), np.float32)
        for item in range(n):
            there[item] = present(self.root, item)
        self._films = Kept(n, self._draw)
        columns: dict[str, Column] = {
            "image": Read(n, self._some),
            "text": Each(n, self._said),
            "targets": Targets(there, classes=NAMES),
            "group": Each(n, partial(named, name)),
        }
        rule = f"{world.size}×{world.size}: drawn at this size"
        ids = Each(n, partial(named, f"xrays-{world.seed}-{name}"))
        super().__init__(columns, ids=ids, rule=rule)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of what is in the split, for the protocol of a result."""
        return files.fingerprint({"world": self.world.spec(), "split": self.name})

    def signs(self, item: int) -> Float64[np.ndarray, "14 6"]:
        """How each finding of a film shows: its strength, sides and place."""
        return signs(self.root, item, self.world.strength)

    def sections(self, item: int) -> tuple[str, str]:
        """The sections of a film's report: findings and impression."""
        world = self.world
        return sections(self.root, item, self.signs(item), world.strength, world.omissions)

    def _said(self, item: int) -> str:
        findings, impression = self.sections(item)
        whole = f"{findings} {impression}"
        return {"report": whole, "findings": findings, "impression": impression}[self.world.text]

    def _some(self, rows: Sequence[int]) -> Images:
        return self._films(rows)[0]

    def _draw(self, rows: Sequence[int]) -> tuple[Images]:
        """Some films, drawn in parallel."""
        from polymodal.data.drawn.kernel.compiling import spread
        from polymodal.data.drawn.kernel.randomness import uniforms
        from polymodal.data.drawn.xrays import chest
        from polymodal.data.drawn.xrays.films import expose

        out = np.empty((len(rows), self.world.size, self.world.size, 3), np.uint8)

        def one(k: int) -> None:
            numbers = uniforms(self.root, rows[k], CHEST, chest.COLUMNS)
            expose(self.root, rows[k], self.signs(rows[k]), numbers, out[k])

        spread(one, range(len(rows)), None)
        return (out,)


def named(first: str, item: int) -> str:
    """The name of an item."""
    return f"{first}-{item:05d}"
