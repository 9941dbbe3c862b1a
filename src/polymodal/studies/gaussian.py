"""Gaussian retrieval (001): its tables, all eleven rows with the same budget."""

from dataclasses import replace

from polymodal.studies import Recipe, Study
from polymodal.studies.vse import RECALLS, paper
from polymodal.systems import gaussian, vse
from polymodal.training import Training

TABLE_1 = {
    "VSE++": (58.3, 86.1, 93.3, 43.6, 77.6, 87.8),
    "GCE spherical mahalanobis": (58.1, 86.1, 93.8, 43.3, 78.0, 88.3),
    "GCE ellipsoidal mahalanobis": (57.3, 85.5, 93.1, 43.9, 77.9, 88.4),
    "GIE spherical mahalanobis": (58.0, 85.8, 92.7, 43.6, 77.6, 88.1),
    "GIE ellipsoidal mahalanobis": (58.2, 86.0, 93.5, 44.2, 78.2, 88.5),
    "GCIE spherical kl": (56.4, 85.0, 92.4, 42.0, 76.4, 87.3),
    "GCIE ellipsoidal kl": (57.8, 86.6, 94.0, 44.8, 79.0, 89.0),
    "GCIE spherical min_kl": (55.9, 84.2, 92.6, 41.8, 76.3, 87.2),
    "GCIE ellipsoidal min_kl": (58.2, 85.6, 93.1, 44.9, 78.6, 89.0),
    "GCIE spherical wasserstein": (57.3, 85.9, 93.2, 43.8, 77.7, 88.1),
    "GCIE ellipsoidal wasserstein": (59.0, 87.0, 93.6, 45.1, 79.2, 89.2),
}
"""001, Table 1: recalls with a frozen ResNet-152, COCO, the mean of five folds of 1000 images."""

SHARED = {"embed_dim": 512, "hidden": 512, "lr": 5e-4, "decay_at": 0.7}
"""Settings that all rows have in common, chosen on the validation split of VSE++."""


def recipe(name: str, training: Training, encoder: str | None, **settings: object) -> Recipe:
    """A row of the table by its name in the paper."""
    if name == "VSE++":
        model: object = vse.Config(**settings)  # type: ignore[arg-type]
        return Recipe(name=name, system="vse", model=model, training=training, encoder=encoder)
    kind, covariance, similarity = name.split()
    model = gaussian.Config(
        model=kind,  # type: ignore[arg-type]
        covariance=covariance,  # type: ignore[arg-type]
        similarity=similarity,
        **settings,  # type: ignore[arg-type]
    )
    return Recipe(name=name, system="gaussian", model=model, training=training, encoder=encoder)


FULL = Training(epochs=10, batch_size=128)
QUICK = replace(FULL, epochs=1, max_steps=20, batch_size=32)

STUDIES = {
    "table1": Study(
        about="all eleven rows of Table 1: frozen image features, the same budget for each",
        recipes=tuple(
            recipe(name, FULL, "efficientnet-lite0", warmup=113, **SHARED) for name in TABLE_1
        ),
        quick=tuple(
            recipe(name, QUICK, "efficientnet-lite0", embed_dim=32, hidden=32, word_dim=16)
            for name in TABLE_1
        ),
        quick_data="scenes,size=64,train=60,val=20,test=20",
        paper=tuple(paper(name, *row) for name, row in TABLE_1.items()),
        metrics=RECALLS,
    ),
}
