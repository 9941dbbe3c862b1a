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
    found = Examination(as_encoder(system, pixels(splits)), splits, how)
    why = found.lacking(measure)
    if why:
        raise PolymodalError(f"{measure} cannot be measured: {why}. Give other data.")
    return found


def pixels(splits: Splits) -> int:
    """The side of pictures."""
    dataset = next(iter(splits.values())) if isinstance(splits, Mapping) else splits
    return int(dataset.images([0]).shape[1])


def zeroshot(found: Examination) -> dict[str, float]:
    """How often the class is recognised, among those of the measured split, by prototypes that are fitted
    to the features of the others, in steps or by ridge regression, for all encoders alike (003, §4.4.5)."""
    place = found.encoder.device
    attributes = found.test.attributes.to(place)
    seen, known = found.seen.whole, found.fit.labels.to(place)
    prototypes = fitted(seen, known, attributes, Fitting())(attributes)
    ridges = ridge(seen, known, attributes)
    labels = found.test.labels.to(place)
    here = torch.zeros(len(attributes), dtype=torch.bool, device=place)
    here[labels] = True
    asked = found.asked.whole
    return {
        "zsl_top1": top1(cosines(asked, prototypes), labels, here),
        "zsl_top1_ridge": top1(cosines_about(asked, ridges, known.unique()), labels, here),
        "chance": 100 / int(here.sum()),
    }


def tre(found: Examination) -> dict[str, float]:
    """The ratio of tree reconstruction errors, its spread over restarts, and both errors; and the ratio
    where fits are stopped by classes that are held out."""
    return tre_ratio(described(found, "fit"), described(found, "test"), found.how.tre)


def described(found: Examination, which: Literal["fit", "test"]) -> Described:
    """The images to fit to or those to measure, with the attributes that their classes have."""
    looked, sample = (found.seen, found.fit) if which == "fit" else (found.asked, found.test)
    return Described(looked.whole, found.present(sample))


def parts(found: Examination) -> dict[str, float]:
    """The F1 of each part, by its name, and their mean."""
    train = Located(found.seen.local, found.parts(found.fit))
    test = Located(found.asked.local, found.parts(found.test))
    scores = parts_f1(train, test, found.how.parts)
    names = found.test.dataset.part_names
    words = {f"f1_{k}": f"f1_{name.replace(' ', '_')}" for k, name in enumerate(names)}
    return {words.get(name, name): score for name, score in scores.items()}


def mined(found: Examination) -> dict[str, float]:
    """The bound on the information of global and local features, in nats."""
    return {"mi_nats": information(found.statistics, found.asked)}


def ratio(found: Examination) -> dict[str, float]:
    """The parts ratio over pairs of images, that of even maps, and what it goes with (003, §4.5.2, A.4)."""
    return found.relation.scores()


MEASURES: Mapping[str, Callable[[Examination], dict[str, float]]] = {
    "zeroshot": zeroshot,
    "tre": tre,
    "parts": parts,
    "heatmaps": mined,
    "ratio": ratio,
}
"""What can be asked for."""
