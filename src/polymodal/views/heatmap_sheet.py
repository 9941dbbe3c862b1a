"""Heatmaps over pictures as one sheet (003, Fig. 4.4)."""

from collections.abc import Sequence

from polymodal.diagnosis.overlays import HeatmapRow
from polymodal.views.picture_sheet import Row, sheet

FOOT = (
    "Left, the image whose global feature is compared with every local one of the others; of each of "
    "these the picture under its scores, from its least to its highest, and the scores alone, "
    "of all in one scale. Yellow is high."
)


def heatmap_sheet(rows: Sequence[HeatmapRow]) -> bytes:
    """The rows as PNG."""
    return sheet([Row(images=row.images, captions=row.captions) for row in rows], FOOT)
