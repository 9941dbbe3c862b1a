"""A split of pictures whose regions are known, and perhaps phrases that name them."""

from collections.abc import Sequence
from functools import cached_property, partial

from polymodal.base import files
from polymodal.data.columns import Each
from polymodal.data.folder import FolderSplit, Item
from polymodal.data.formats.archive import Source
from polymodal.data.image_files import WHOLE, Framing
from polymodal.data.records import Region


class RegionSplit(FolderSplit):
    """A split of whole pictures in squares, with the boxes of their regions in these."""

    def __init__(
        self,
        source: Source,
        items: Sequence[Item],
        size: int,
        regions: Sequence[tuple[Region, ...]],
        framing: Framing = WHOLE,
    ) -> None:
        self.framing, self._regions = framing, regions
        layout = Each(
            len(items), partial(bare, regions)
        )  # not of the split, which must let go of a zip
        super().__init__(source, items, size, regions=Each.of(regions), layout=layout)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of ids, captions with their phrases, regions, size and the rule of resizing."""
        items = [
            [
                item.id,
                [[c.text, [list(vars(p).values()) for p in c.phrases]] for c in item.captions],
                [[r.label, r.box, dict(r.attributes)] for r in regions],
            ]
            for item, regions in zip(self.items, self._regions, strict=True)
        ]
        return files.fingerprint({"items": items, "size": self.size, "rule": self.framing.rule})


def bare(regions: Sequence[tuple[Region, ...]], index: int) -> tuple[Region, ...]:
    """The regions of one picture by label and box alone."""
    return tuple(Region(region.label, region.box) for region in regions[index])
