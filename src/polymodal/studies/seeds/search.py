"""How sure answers of a search are: what they claim and what is observed, in indexes of several sizes."""

from dataclasses import replace
from functools import partial
from typing import Any

from polymodal.studies.figures.reliability import reliability_diagrams
from polymodal.studies.study import Measuring, Recipe, Scale, Study
from polymodal.systems.retrieval import gaussian
from polymodal.systems.retrieval.sureness_probe import NAMES, claimed_and_observed
from polymodal.training.training_config import Training

ENCODER = "efficientnet-lite0"

SCENES = "scenes,size=64,train=2907,val=500,test=1000"
"""As many images as the subset of COCO has."""


def row(encoder: str | None, max_steps: int = 1500, width: int = 256, **settings: Any) -> Recipe:
    """A Gaussian model that trains in a few minutes on two cores."""
    model = gaussian.Config(
        loss="infonce",
        scale=10.0,
        learn_scale=True,
        lr=1e-3,
        embed_dim=width,
        hidden=width,
        **settings,
    )
    training = Training(max_steps=max_steps, batch_size=64, resident=True)
    return Recipe(name="GCIE", system="gaussian", model=model, training=training, encoder=encoder)


STUDIES = {
    "calibration": Study(
        about="what answers claim and what is observed, in indexes of several sizes",
        scales={
            "drawn": Scale(rows=(row(ENCODER),), data=(SCENES,), only="drawn"),
            "small": Scale(rows=(row(ENCODER),), only="files"),
            "quick": Scale(
                rows=(
                    replace(
                        row(None, max_steps=20, width=32, convnet_width=8),
                        probe=partial(claimed_and_observed, sizes=(20, 40, 80)),
                    ),
                ),
                data=("scenes,size=32,train=40,val=40,test=40",),
            ),
        },
        metrics=tuple(f"{index}_{what}" for index in NAMES for what in ("ece", "gap")),
        measuring=Measuring(probe=claimed_and_observed, conclusion=reliability_diagrams),
    ),
}
