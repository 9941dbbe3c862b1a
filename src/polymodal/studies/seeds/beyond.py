"""Beyond the papers: the same towers trained with other losses."""

from dataclasses import replace
from typing import Any

from polymodal.studies.seeds.gaussian import (
    BUDGET,
    DRAWN,
    ENCODER,
    FEW,
    QUICK,
    TINY,
    gaussian_scales,
)
from polymodal.studies.seeds.vse import RECALLS
from polymodal.studies.study import Measuring, Recipe, Study
from polymodal.systems.retrieval import gaussian, vse
from polymodal.training.training_config import Training

HINGE = ("warmup", "negatives")
"""Settings of the hinge loss, which the others do not take."""


def rows(training: Training, **settings: Any) -> tuple[Recipe, ...]:
    """VSE++ and GCIE with the losses of 001, CLIP and SigLIP, and PCME++."""
    soft = {name: value for name, value in settings.items() if name not in HINGE}
    nce = {**soft, "loss": "infonce", "learn_scale": True}
    sigmoid = {**soft, "loss": "sigmoid", "learn_scale": True}
    pcme: dict[str, Any] = {
        **sigmoid,
        "similarity": "csd",
        "scale": 5.0,
        "bias": 5.0,
        "pseudo_positives": 0.1,
        "vib": 1e-4,
        "low": 1e-4,
        "log_var_start": -7.0,
    }
    models: dict[str, Any] = {
        "VSE++ hinge": vse.Config(**settings),
        "VSE++ infonce": vse.Config(scale=14.0, **nce),
        "VSE++ sigmoid": vse.Config(scale=10.0, bias=-10.0, **sigmoid),
        "GCIE wasserstein hinge": gaussian.Config(**settings),
        "GCIE wasserstein infonce": gaussian.Config(scale=10.0, **nce),
        "GCIE wasserstein sigmoid": gaussian.Config(scale=10.0, bias=10.0, **sigmoid),
        "PCME++": gaussian.Config(**pcme),
    }
    return tuple(
        Recipe(
            name=name,
            system="vse" if name.startswith("VSE") else "gaussian",
            model=model,
            training=training,
            encoder=ENCODER,
        )
        for name, model in models.items()
    )


STUDIES = {
    "losses": Study(
        about="hinge, InfoNCE, sigmoid and PCME++ on frozen image features, equal budgets",
        scales=gaussian_scales(
            drawn=rows(BUDGET, **DRAWN),
            small=rows(BUDGET, **FEW),
            quick=rows(replace(TINY, max_steps=4), **QUICK),
        ),
        metrics=(*RECALLS, "caption_error_auroc", "image_error_auroc"),
        measuring=Measuring(folds=True),
    ),
}
