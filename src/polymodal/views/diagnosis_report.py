"""A diagnosis that can be written: numbers as JSON, a page, heatmaps as a picture."""

from functools import cached_property, wraps
from pathlib import Path
from typing import Any

from polymodal.base import files
from polymodal.base.locks import writing
from polymodal.diagnosis import diagnosing
from polymodal.diagnosis.comparison import Comparison
from polymodal.diagnosis.diagnosing import Diagnosis
from polymodal.views.diagnosis_pages import write_comparison, write_diagnosis
from polymodal.views.heatmap_sheet import heatmap_sheet


class DiagnosisReport(Diagnosis):
    """What was measured of an encoder, ready to be written."""

    @cached_property
    def sheet(self) -> bytes | None:
        """The heatmaps as PNG."""
        return heatmap_sheet(self.heatmaps) if self.heatmaps else None

    def write(self, folder: Path | str) -> None:
        """Write diagnosis.json, report.html and, where heatmaps were drawn, heatmaps.png."""
        folder = Path(folder)
        with writing(folder, wait=True):
            files.write_json(folder / "diagnosis.json", self.to_json())
            if self.sheet:
                files.write_bytes(folder / "heatmaps.png", self.sheet)
            else:  # those of an earlier diagnosis are not of this one
                (folder / "heatmaps.png").unlink(missing_ok=True)
            write_diagnosis(folder / "report.html", self, self.sheet)


@wraps(diagnosing.diagnose)
def diagnose(*encoder_and_data: Any, **how: Any) -> DiagnosisReport:
    """The same as can be written."""
    return DiagnosisReport(**vars(diagnosing.diagnose(*encoder_and_data, **how)))


def write_compared(comparison: Comparison, folder: Path | str) -> None:
    """Write comparison.json and comparison.html."""
    folder = Path(folder)
    with writing(folder, wait=True):
        files.write_json(folder / "comparison.json", comparison.to_json())
        write_comparison(folder / "comparison.html", comparison)
