"""Classify images with a trained model, including classes without training images."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HELP = """\
Print the most likely classes of images, one line per image, with the cosine of each class's prototype.

  polymodal recognise cmdim-birds bird.png --unseen
  polymodal recognise runs/birds *.jpg --among "001.Black_footed_Albatross" "002.Laysan_Albatross"

RUN is a run directory of `polymodal train fc` or another zero-shot system, or the shipped model cmdim-birds. Images are preprocessed as the run's data: the centre square, resized.

Every class with attributes is a candidate, with or without training images. But among all classes the model nearly always prefers those with training images. So restrict the candidates: --among NAME ..., or --unseen for the classes without training images.
"""  # noqa: E501 (tyro breaks the lines)


@dataclass(frozen=True, kw_only=True)
class Recognise:
    """Candidate classes."""

    among: tuple[str, ...] = ()
    """Candidate classes; by default all."""
    unseen: bool = False
    """Only classes without training images."""
    first: int = 3
    """Number of classes to print per image."""
    device: str = "cpu"
    """Device to compute on, for instance cuda."""


def main(arguments: list[str]) -> None:
    from polymodal.cli import ask_about_pictures

    ask_about_pictures("recognise", Recognise, tell, arguments, HELP)


def tell(
    run: str,
    images: Sequence[Path],
    *,
    among: Sequence[str],
    unseen: bool,
    first: int,
    device: str,
) -> None:
    """Print a line a picture."""
    from polymodal.base.errors import PolymodalError
    from polymodal.runs.loading import load_for

    if among and unseen:
        raise PolymodalError(
            "--among and --unseen both choose the candidate classes: give one of them."
        )
    system = load_for("recognise", run, device)
    if unseen and not system.unseen:
        raise PolymodalError("This model had training images of all classes. Leave --unseen out.")
    possible = system.unseen if unseen else among or None
    wide = max(len(str(image)) for image in images)
    found = system.recognise(images, among=possible, first=first)
    for image, named in zip(images, found, strict=True):
        print(f"{image!s:{wide}}  " + "  ".join(f"{name} {cosine:.2f}" for name, cosine in named))
