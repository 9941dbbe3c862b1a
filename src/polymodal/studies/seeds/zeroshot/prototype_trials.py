"""How prototypes are fitted: several ways, on the features of one trained encoder, scored on `val`."""

from collections.abc import Mapping
from itertools import islice

import torch

from polymodal.data.records import Dataset
from polymodal.metrics.class_accuracy import top1
from polymodal.systems.zeroshot.learner import Learner
from polymodal.systems.zeroshot.prototypes import Fitting, cosines_about, descent, ridge

VIEWS = 4
"""The centre crop and three random crops of each training image."""

STEPS = (20, 40, 100, 200)

WAYS: dict[str, tuple[Fitting, bool]] = {
    "unit": (Fitting(), False),
    "unit_fast": (Fitting(lr=1e-2), False),
    "unit_views": (Fitting(), True),
    "centred": (Fitting(centred=True), False),
    "centred_fast": (Fitting(centred=True, lr=1e-2), False),
    "centred_scale": (Fitting(centred=True, learn_scale=True), False),
    "centred_decay": (Fitting(centred=True, decay=1e-2), False),
    "centred_views": (Fitting(centred=True), True),
    "all": (Fitting(centred=True, learn_scale=True, decay=1e-2), True),
}
"""Each with whether all views are used. *Fast* is a learning rate of 1e-2 instead of 1e-3."""

RIDGES = (0.1, 1.0, 10.0)


def prototype_trials(system: Learner, splits: Mapping[str, Dataset]) -> dict[str, float]:
    """Top-1 on the validation classes for each way to fit prototypes to the training images."""
    train, val = splits["train"], splits["val"]
    fitted_to = {views > 1: system.features(train, views) for views in (1, VIEWS)}
    features, labels = system.features(val)
    here = torch.zeros_like(system.known)
    here[labels] = True
    attributes, known = system.attributes, torch.zeros_like(system.known)
    known[fitted_to[False][1]] = True
    scores = {}
    for name, (how, views) in WAYS.items():
        seen, classes = fitted_to[views]
        nets = descent(seen, classes, attributes, how, 0)
        for step, net in enumerate(islice(nets, max(STEPS)), start=1):
            if step in STEPS:
                with torch.no_grad():
                    cosines = net.scores(features, attributes)
                scores[f"{name}_{step}"] = top1(cosines, labels, here)
    for views, (seen, classes) in fitted_to.items():
        for weight in RIDGES:
            cosines = cosines_about(features, ridge(seen, classes, attributes, weight), known)
            scores[f"ridge_{weight:g}{'_views' if views else ''}"] = top1(cosines, labels, here)
    return scores
