"""Name the class that pictures show, also one that had no training images, by a trained model."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HELP = """\
Name the likeliest classes of pictures, a line a picture, with the cosine of each class's prototype.

  polymodal recognise cmdim-birds bird.png --unseen
  polymodal recognise runs/birds *.jpg --among "001.Black_footed_Albatross" "002.Laysan_Albatross"

RUN is the directory of a run of `polymodal train fc` or of another learner of features, or cmdim-birds, which comes with Polymodal. Pictures are read as those of the run's data were: their centre square, resized.

Any class with attributes can be named, whether it had training images or not; but where all may be, those that had are nearly always preferred. Say what is possible: --among NAME ..., or --unseen for the classes that had none.
"""  # noqa: E501 (tyro breaks the lines)


@dataclass(frozen=True, kw_only=True)
class Recognise:
    """What may be named."""

    among: tuple[str, ...] = ()
    """The classes that are possible; all by default."""
    unseen: bool = False
    """Name only classes that had no training images."""
    first: int = 3
    """How many of the likeliest to name."""
    device: str = "cpu"
    """Where to compute, for instance cuda."""


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
        raise PolymodalError("--among and --unseen both say what is possible: give one of them.")
    system = load_for("recognise", run, device)
    if unseen and not system.unseen:
        raise PolymodalError("This model had training images of all classes. Leave --unseen out.")
    possible = system.unseen if unseen else among or None
    wide = max(len(str(image)) for image in images)
    found = system.recognise(images, among=possible, first=first)
    for image, named in zip(images, found, strict=True):
        print(f"{image!s:{wide}}  " + "  ".join(f"{name} {cosine:.2f}" for name, cosine in named))
