"""Say in words what pictures show, by a trained model, and how sure it is of each word."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HELP = """\
Say in words what pictures show, a line a picture, by a trained model.

  polymodal caption vlvae-two-objects image.png
  polymodal caption runs/v *.png --probabilities

RUN is the directory of a run of `polymodal train vlvae`, or vlvae-two-objects, which comes with Polymodal. Pictures are read as those of the run's data were: their centre square, resized.

A probability is that of a word given the picture and the words before it. It is about one half where two words are as true: which object is said first, and by which relation. It is worth nothing for pictures unlike those of the run's data, which a model is as sure about.
"""  # noqa: E501 (tyro breaks the lines)


@dataclass(frozen=True, kw_only=True)
class Caption:
    """How to say it."""

    probabilities: bool = False
    """Say after each word how probable it was."""
    device: str = "cpu"
    """Where to compute, for instance cuda."""


def main(arguments: list[str]) -> None:
    from polymodal.cli import ask_about_pictures

    ask_about_pictures("caption", Caption, tell, arguments, HELP)


def tell(run: str, images: Sequence[Path], *, probabilities: bool, device: str) -> None:
    """Print a line a picture."""
    from polymodal.runs.loading import load_for

    system = load_for("caption", run, device)
    wide = max(len(str(image)) for image in images)
    for image, one in zip(images, system.describe(images), strict=True):
        text = " ".join(one.words)
        if probabilities:
            sure = zip(one.words, one.probabilities, strict=True)
            text = "  ".join(f"{word} {p:.2f}" for word, p in sure)
        print(f"{image!s:{wide}}  {text}")
