"""A sheet of heatmaps, and their scores (003, Fig. 4.4)."""

from pathlib import Path
from typing import Any

from polymodal.base import files
from polymodal.diagnosis.encoder_measures import Splits, examine, mined, ratio
from polymodal.diagnosis.examination import Settings
from polymodal.diagnosis.overlays import heatmap_rows
from polymodal.views.heatmap_sheet import heatmap_sheet


def heatmaps(
    system: Any, splits: Splits, out: Path, how: Settings | None = None
) -> dict[str, float]:
    """A sheet of heatmaps of pointwise mutual information (003, §4.4.3, Fig. 4.4) as PNG; returns the
    information in nats and, where parts are known, the parts ratio and its correlations (§4.5.2)."""
    examination = examine(system, splits, "heatmaps", how)
    files.write_bytes(Path(out), heatmap_sheet(heatmap_rows(examination)))
    scores = mined(examination)
    return scores if examination.lacking("ratio") else scores | ratio(examination)
