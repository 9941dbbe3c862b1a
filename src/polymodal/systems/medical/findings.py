"""CMIM of X-rays and reports: findings told from the image alone at test time (003, ch. 8).

Trained with images and their reports. The mutual information between places of the image, words of
its report and a bilinear embedding of both is raised. For research: not a medical device.
"""

from typing import Any

import numpy as np

from polymodal.base.errors import PolymodalError
from polymodal.data.columns import Stored
from polymodal.data.records import Dataset
from polymodal.data.vocabulary import Vocabulary
from polymodal.data.word_vectors import vector_width
from polymodal.nn.named_encoders import describe
from polymodal.systems.medical.findings_settings import LEARNED, Config
from polymodal.systems.medical.findings_system import Findings
from polymodal.systems.medical.report_examples import reports_of

__all__ = ["Config", "build", "learn"]

MOST_WEIGHT = 20.0
"""The most that a rare finding counts with --balance."""


def learn(config: Config, train: Dataset) -> dict[str, Any]:
    """The size of the images, the findings and how rare they are, and the words of the reports."""
    size = train.images([0]).shape[1]
    column = train.column("targets", "Classification")
    if not isinstance(column, Stored) or column.values.ndim != 2:
        raise PolymodalError(
            "Findings are told of each item by one number a finding, but the column 'targets' does not "
            "hold rows of numbers. Give it as an array of items × findings."
        )
    known = column.values if column.present is None else column.values[column.present]
    rate = (known > 0.5).mean(0) if len(known) else np.zeros(known.shape[1])
    names = getattr(column, "classes", None) or [f"finding{k}" for k in range(len(rate))]
    learned: dict[str, Any] = {
        "size": size,
        "image_encoder": describe(config.image_encoder, round(size * config.crop)),
        "findings": [str(name).replace(" ", "-") for name in names],
        "weights": [min((1 - p) / max(p, 1e-6), MOST_WEIGHT) for p in rate.tolist()],
    }
    if config.reads == "image":
        return learned
    vocabulary = Vocabulary.of([text for text in reports_of(train) if text])
    own = config.words == LEARNED
    dim = config.word_dim if own else vector_width(config.words)
    return {**learned, "vocabulary": list(vocabulary.words), "word_dim": dim}


def build(config: Config, learned: dict[str, Any]) -> Findings:
    """The model, given what `learn` found."""
    return Findings(config, learned)
