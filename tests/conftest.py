"""Shapes are checked at run time in the tests; every test has a cache of its own."""

import gc
import os
from pathlib import Path

import pytest
from jaxtyping import install_import_hook

import forks

# tiny models are no faster on more threads, and many times slower where others want the cores too
os.environ.setdefault("OMP_NUM_THREADS", "1")

CHECKED = (
    "maths.contrastive", "maths.information", "maths.layout_relations", "maths.likelihoods",
    "maths.ranking",
    "maths.similarity", "metrics", "nn", "systems", "diagnosis",
    "data.pairs", "data.fixed_words", "data.image_texts", "data.located_texts", "data.classes",
    "data.class_folder", "data.class_split", "data.caption_tokens",
    "data.layouts", "data.layout_examples", "data.layout_objects",
    "data.slice_folder", "data.volume_folder", "data.volume_slices", "data.chest_films",
    "views.modality_sheet",
    "data.formats.volumes", "data.formats.metaimage", "data.formats.mask_labels",
    "data.drawn.phantoms.phantom_split", "data.drawn.xrays.xray_split",
    "data.drawn.xrays.findings", "data.drawn.xrays.reports",
    "search.spheres", "search.lifts", "search.nearest", "search.sureness", "search.answers",
    "search.calibrating", "search.remote", "search.tensors",
    "training.distributed",
    "studies.figures.mismatch", "studies.figures.inference", "studies.figures.word_histograms",
    "studies.figures.figure_texts",
)  # fmt: skip

install_import_hook([f"polymodal.{name}" for name in CHECKED], "beartype.beartype")


def pytest_configure(config: pytest.Config) -> None:
    """Each of several workers keeps machine code of its own: numba may mix up what two processes
    write at once."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker and hasattr(config, "cache"):
        os.environ["NUMBA_CACHE_DIR"] = str(config.cache.mkdir(f"numba-{worker}"))


def pytest_collection_finish() -> None:
    """What all tests share lives to the end: collections of garbage, which trainings ask for, need not
    walk through it each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keep what tests draw out of the user's own cache."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POLYMODAL_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="session")
def squares(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of coloured squares with captions and splits."""
    from toys import write_squares

    return write_squares(tmp_path_factory.mktemp("squares"))


@pytest.fixture
def quick_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Crews whose processes are forks of one that has imported everything, where there are such; else
    each would import torch again."""
    if forks.possible:
        monkeypatch.setattr(
            "polymodal.studies.reproduction.workers.get_context", forks.warm_context
        )
