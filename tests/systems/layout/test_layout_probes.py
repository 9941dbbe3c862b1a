"""What a classifier and a detector say of made pictures: those of a perfect generator, and of none."""

import numpy as np
import pytest
import torch

from drawn_layouts import drawn_layouts
from ocgans import TINY
from polymodal.base.errors import PolymodalError
from polymodal.systems.layout import crops, ocgan, spotter
from polymodal.systems.layout.layout_probes import layout_scores
from toys import fall

TRAIN, TEST = drawn_layouts(32, 0), drawn_layouts(8, 1)
LAYOUTS = {"fewest": 1, "least_area": 0.0}


def learned(kind, steps: int, **settings):
    """A judge that knows the training pictures."""
    torch.manual_seed(0)
    config = kind.Config(**LAYOUTS, width=8, lr=1e-2, flip=False, **settings)
    system = kind.build(config, kind.learn(config, TRAIN))
    fall(system, system.examples(TRAIN).batch(np.arange(32)), steps)
    return system


@pytest.fixture(scope="module")
def judges():
    return learned(crops, 40), learned(spotter, 80)


def generator(monkeypatch, pictures):
    """An OC-GAN that makes what `pictures` gives for a batch."""
    config = ocgan.Config(**TINY | {"lambda_p": 0.0})
    system = ocgan.build(config, ocgan.learn(config, TRAIN))
    monkeypatch.setattr(system, "made", lambda batch, **_: pictures(batch))
    monkeypatch.setattr(system, "evaluate", lambda dataset: {"fid": float(len(dataset))})
    return system


def test_a_perfect_generator_has_the_scores_of_real_pictures(judges, monkeypatch):
    system = generator(monkeypatch, lambda batch: batch.image.permute(0, 2, 3, 1))
    scores = layout_scores(system, {"train": TRAIN, "test": TEST}, *judges)
    assert scores["fid"] == 8  # the system's own
    for name in ("ca", "fidelity", "placed", "spurious"):
        assert scores[name] == scores[f"real_{name}"]
    assert scores["ca"] > 50 and scores["placed"] > 30
    assert scores["crops_fid"] == pytest.approx(0, abs=1e-4)


def test_empty_pictures_show_nothing(judges, monkeypatch):
    def grey(batch):
        return torch.full_like(batch.image.permute(0, 2, 3, 1), 100)

    system = generator(monkeypatch, grey)
    scores = layout_scores(system, {"train": TRAIN, "test": TEST}, *judges)
    assert scores["fidelity"] == scores["placed"] == 0 < scores["real_placed"]
    assert scores["ca"] < scores["real_ca"]
    assert scores["crops_fid"] > 1


def test_judges_of_other_classes_are_refused(judges, monkeypatch):
    system = generator(monkeypatch, lambda batch: batch.image)
    system.classes = ("dragon",)
    with pytest.raises(PolymodalError, match="trained with other classes than what makes them"):
        layout_scores(system, {"test": TEST}, *judges)
