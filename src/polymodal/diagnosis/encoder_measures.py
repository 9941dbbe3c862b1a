"""The measures of an encoder: each takes an examination, and gives scores by name."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import torch

from polymodal.base.errors import PolymodalError
from polymodal.data.records import Dataset
from polymodal.diagnosis.compositionality import Described, tre_ratio
from polymodal.diagnosis.encoders import as_encoder
from polymodal.diagnosis.examination import Examination, Settings
from polymodal.diagnosis.locality import Located, parts_f1
from polymodal.diagnosis.pointwise import information
from polymodal.metrics.class_accuracy import top1
from polymodal.systems.zeroshot.prototypes import Fitting, cosines, cosines_about, fitted, ridge

Splits = Mapping[str, Dataset] | Dataset


def parts_scores(system: Any, splits: Splits, how: Settings | None = None) -> dict[str, float]:
    """The F1 of parts told from local features (003, §4.4.2)."""
    return parts(examine(system, splits, "parts", how))


def examine(system: Any, splits: Splits, measure: str, how: Settings | None) -> Examination:
    """A system before its images, if these can be measured so."""
    examination = Examination(as_encoder(system, pixels(splits)), splits, how)
    why = examination.lacking(measure)
    if why:
        raise PolymodalError(f"{measure} cannot be measured: {why}. Give other data.")
    return examination


def pixels(splits: Splits) -> int:
    """The side of pictures."""
    dataset = next(iter(splits.values())) if isinstance(splits, Mapping) else splits
    return int(dataset.images([0]).shape[1])


def zeroshot(examination: Examination) -> dict[str, float]:
    """How often the class is recognised, among those of the measured split, by prototypes that are fitted
    to the features of the others, in steps or by ridge regression, for all encoders alike (003, §4.4.5)."""
    place = examination.encoder.device
    attributes = examination.test.attributes.to(place)
    seen, known = examination.seen.whole, examination.fit.labels.to(place)
    prototypes = fitted(seen, known, attributes, Fitting())(attributes)
    ridges = ridge(seen, known, attributes)
    labels = examination.test.labels.to(place)
    here = torch.zeros(len(attributes), dtype=torch.bool, device=place)
    here[labels] = True
    asked = examination.asked.whole
    return {
        "zsl_top1": top1(cosines(asked, prototypes), labels, here),
        "zsl_top1_ridge": top1(cosines_about(asked, ridges, known.unique()), labels, here),
        "chance": 100 / int(here.sum()),
    }


def tre(examination: Examination) -> dict[str, float]:
    """The ratio of tree reconstruction errors, its spread over restarts, and both errors; and the ratio
    where fits are stopped by classes that are held out."""
    return tre_ratio(
        described(examination, "fit"), described(examination, "test"), examination.how.tre
    )


def described(examination: Examination, which: Literal["fit", "test"]) -> Described:
    """The images to fit to or those to measure, with the attributes that their classes have."""
    looked, sample = (
        (examination.seen, examination.fit)
        if which == "fit"
        else (examination.asked, examination.test)
    )
    return Described(looked.whole, examination.present(sample))


def parts(examination: Examination) -> dict[str, float]:
    """The F1 of each part, by its name, and their mean."""
    train = Located(examination.seen.local, examination.parts(examination.fit))
    test = Located(examination.asked.local, examination.parts(examination.test))
    scores = parts_f1(train, test, examination.how.parts)
    names = examination.test.dataset.part_names
    words = {f"f1_{k}": f"f1_{name.replace(' ', '_')}" for k, name in enumerate(names)}
    return {words.get(name, name): score for name, score in scores.items()}


def mined(examination: Examination) -> dict[str, float]:
    """The bound on the information of global and local features, in nats."""
    return {"mi_nats": information(examination.statistics, examination.asked)}


def ratio(examination: Examination) -> dict[str, float]:
    """The parts ratio over pairs of images, that of even maps, and what it goes with (003, §4.5.2, A.4)."""
    return examination.relation.scores()


MEASURES: Mapping[str, Callable[[Examination], dict[str, float]]] = {
    "zeroshot": zeroshot,
    "tre": tre,
    "parts": parts,
    "heatmaps": mined,
    "ratio": ratio,
}
"""What can be asked for."""
