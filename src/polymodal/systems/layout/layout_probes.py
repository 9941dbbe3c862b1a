"""Scores of made pictures by other trained systems: what a classifier and a detector see (003, §6.4).

Both learned from real pictures. So each score stands beside that of the real pictures of the same layouts,
which is what a perfect generator would have.
"""

from collections.abc import Iterable, Mapping

from jaxtyping import UInt8
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.layout_examples import LayoutBatch
from polymodal.data.records import Dataset
from polymodal.metrics.layout_fidelity import layout_fidelity
from polymodal.metrics.picture_scores import Measuring, PictureScores
from polymodal.systems.layout.crop_classifier import CropClassifier, cut
from polymodal.systems.layout.layout_gan import LayoutGAN
from polymodal.systems.layout.made_pictures import blocks_of
from polymodal.systems.layout.object_detector import ObjectDetector
from polymodal.training.system import Scores

Shown = tuple[UInt8[Tensor, "b h w 3"], LayoutBatch]
"""Pictures, and the layouts that they are to show."""


def layout_scores(
    system: LayoutGAN,
    splits: Mapping[str, Dataset],
    crops: CropClassifier,
    spotter: ObjectDetector,
) -> Scores:
    """All scores of a row: those of the system itself; `ca`, `fidelity`, `placed` and `spurious` of the
    pictures that it makes of the test layouts, and of the real ones as `real_…`; and `crops_fid`, SceneFID
    by what the classifier of crops sees."""
    for other in (crops, spotter):
        check_same_classes(system, other)
    test = splits["test"]
    real: list[Shown] = []
    made: list[Shown] = []
    compared = PictureScores(crops.network().to(system.device), Measuring())
    for batch, first in blocks_of(system, test, None):
        pictures = batch.image.permute(0, 2, 3, 1), system.made(batch, first=first)
        compared.add(*pictures, batch.boxes, batch.there)
        for own, shown in zip(pictures, (real, made), strict=True):
            shown.append((own, batch))
    of_real = {f"real_{name}": score for name, score in read_by(crops, spotter, real).items()}
    return {
        **system.evaluate(test),
        **of_real,
        **read_by(crops, spotter, made),
        "crops_fid": compared.scores()["scene_fid"],
    }


def read_by(crops: CropClassifier, spotter: ObjectDetector, shown: Iterable[Shown]) -> Scores:
    """What the classifier and the detector see of pictures that are to show layouts."""
    pairs = list(shown)
    cuts = (cut(own, b.boxes, b.classes, b.there) for own, b in pairs)
    found = layout_fidelity(
        pair for own, b in pairs for pair in spotter.judged(own, b.boxes, b.classes, b.there)
    )
    kept = {name: found[name] for name in ("fidelity", "placed", "spurious")}
    return {"ca": crops.scores(cuts)["accuracy"], **kept}


def check_same_classes(system: LayoutGAN, other: CropClassifier | ObjectDetector) -> None:
    """Refuse a judge of other classes, whose numbers would mean something else."""
    if list(other.learned["classes"]) != list(system.classes):
        raise PolymodalError(
            "What judges the pictures was trained with other classes than what makes them. Train both on "
            "the same data."
        )
