"""A diagnosis: every measure of an encoder that its images allow, and what must be known beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from torch import nn

from polymodal.base.errors import PolymodalError, unknown
from polymodal.base.version import versions
from polymodal.data.records import Dataset
from polymodal.diagnosis.encoder_measures import MEASURES
from polymodal.diagnosis.encoder_opening import opened
from polymodal.diagnosis.encoders import Encoder
from polymodal.diagnosis.examination import Examination, Sample, Settings
from polymodal.diagnosis.overlays import HeatmapRow, heatmap_rows
from polymodal.diagnosis.parts_ratio import Trend
from polymodal.runs.jobs import open_data

WIDE = 0.05
"""A deviation of TRE ratios over restarts that is worth a word: with enough images it is about 0.01."""


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What was measured of an encoder."""

    name: str
    metrics: Mapping[str, float]
    """Scores by name."""
    skipped: Mapping[str, str]
    """The measures that could not be taken, each with the reason."""
    protocol: Mapping[str, Any]
    """All that two diagnoses must share to be compared."""
    trends: Mapping[str, Trend] = field(default_factory=dict)
    """The parts ratio as images are more alike, by attributes and by SSIM."""
    heatmaps: Sequence[HeatmapRow] = field(default=(), repr=False)
    """Pictures under the scores of their places."""

    @property
    def cut(self) -> str:
        """That fewer images were fitted to than there are, if so, and what follows."""
        fitted = self.protocol.get("fitted to", {})
        if "of" not in fitted:
            return ""
        sentence = f"fitted to {fitted['images']} of {fitted['of']} images"
        fewer = "; TRE ratios fall with fewer: compare equal counts only"
        return sentence + fewer if "tre_ratio" in self.metrics else sentence

    @property
    def cautions(self) -> list[str]:
        """What must be known before scores are read."""
        cautions = [self.cut] if self.cut else []
        nats = self.metrics.get("mi_nats", 1.0)
        if nats <= 0:
            ratio = "; the parts ratio is taken from them" if "parts_ratio" in self.metrics else ""
            cautions.append(
                f"the heatmaps say nothing: mi_nats is {nats:.2g}, not above 0, on images that they "
                f"were not fitted to{ratio}"
            )
        spread = self.metrics.get("tre_ratio_spread", 0.0)
        if spread > WIDE:
            cautions.append(
                f"the TRE ratio says little: it varies by {spread:.2g} from restart to restart; fit to "
                "more images"
            )
        return cautions

    def to_json(self) -> dict[str, Any]:
        """All but the pictures."""
        return {
            "name": self.name,
            "metrics": {k: v if v == v else None for k, v in self.metrics.items()},
            "skipped": dict(self.skipped),
            "cautions": self.cautions,
            "trends": dict(self.trends),
            "protocol": dict(self.protocol),
            "versions": versions(),
        }


def diagnose(
    encoder: nn.Module | Encoder | Path | str,
    data: Mapping[str, Dataset] | Dataset | str,
    *,
    measures: Sequence[str] | None = None,
    how: Settings | None = None,
    name: str | None = None,
    device: str = "cpu",
) -> Diagnosis:
    """Measure locality and compositionality of an image encoder (003, §4.4).

    Args:
        encoder: a run, the folder of a transformers model, or any torch module that gives maps of
            features; `polymodal.diagnosis.encoders.of_module` says more of one.
        data: splits, a dataset, or its name as in `polymodal train`. Of one dataset half of the classes
            are fitted to, the others measured.
        measures: some of zeroshot, tre, parts, heatmaps, ratio. By default all that the images allow.
        how: how each is measured.
        name: what the encoder is called.
        device: where to compute, if the encoder is not there already.
    """
    if isinstance(measures, str):
        raise PolymodalError(f"measures is a list, such as [{measures!r}].")
    for measure in measures or ():
        if measure not in MEASURES:
            raise unknown("measure", measure, MEASURES)
    splits = open_data(data) if isinstance(data, str) else data
    subject = opened(encoder, splits, device)
    examination = Examination(subject, splits, how)
    chosen, skipped = allowed(examination, measures)
    metrics: dict[str, float] = {}
    for measure in chosen:
        metrics |= MEASURES[measure](examination)
    return Diagnosis(
        name=name or default_name(encoder),
        metrics=metrics,
        skipped=skipped,
        protocol=protocol(examination),
        trends=examination.relation.trends() if "ratio" in chosen else {},
        heatmaps=heatmap_rows(examination) if "heatmaps" in chosen else (),
    )


def allowed(
    examination: Examination, measures: Sequence[str] | None
) -> tuple[list[str], dict[str, str]]:
    """The measures to take, and why the others cannot be taken; one asked for by name must be."""
    reasons = {measure: examination.lacking(measure) for measure in measures or MEASURES}
    skipped = {measure: reason for measure, reason in reasons.items() if reason}
    if measures and skipped:
        listed = "; ".join(f"{measure}: {reason}" for measure, reason in skipped.items())
        raise PolymodalError(
            f"These data cannot be measured so. {listed}. Give data that can, or ask for less."
        )
    return [measure for measure in reasons if measure not in skipped], skipped


def protocol(examination: Examination) -> dict[str, Any]:
    """What was measured on what, and how."""
    encoder, side = examination.encoder, examination.asked.local.shape[-1]
    window = encoder.window
    return {
        "fitted to": counted(examination.fit),
        "measured on": counted(examination.test),
        "pictures": examination.test.dataset.rule,
        "encoded": f"{encoder.size}×{encoder.size}, the middle {encoder.crop:g} of the side",
        "features": f"{examination.asked.whole.shape[1]} global, {examination.asked.local.shape[1]} local at "
        f"{side}×{side} places",
        "a place sees": f"{window.size} pixels, {window.step} apart, from {window.start}",
        "which is known": encoder.sight,
        "settings": asdict(examination.how),
    }


def counted(sample: Sample) -> dict[str, Any]:
    """How many images, of how many if not all, of how many classes, and the hash of their split."""
    counts: dict[str, Any] = {"images": len(sample), "hash": sample.dataset.fingerprint}
    counts |= {} if sample.among is None else {"of": sample.among}
    return counts | ({"classes": len(sample.labels.unique())} if sample.classed else {})


def default_name(encoder: Any) -> str:
    """What an encoder is called if nobody says: its folder, or its kind."""
    return Path(encoder).name if isinstance(encoder, str | Path) else type(encoder).__name__
