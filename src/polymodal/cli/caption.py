"""Caption images with a trained model, with a probability for each word."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HELP = """\
Caption images with a trained model, one line per image.

  polymodal caption vlvae-two-objects image.png
  polymodal caption runs/v *.png --probabilities

RUN is a run directory of `polymodal train vlvae`, or the shipped model vlvae-two-objects. Images are preprocessed as the run's data: the centre square, resized.

A probability is that of a word given the image and the words before it. It is about one half where two words are equally true: which object comes first, and which relation is used. It has no meaning for images unlike the run's data: the model is just as certain about them.
"""  # noqa: E501 (tyro breaks the lines)


@dataclass(frozen=True, kw_only=True)
class Caption:
    """Options of captioning."""

    probabilities: bool = False
    """Print the probability of each word after it."""
    device: str = "cpu"
    """Device to compute on, for instance cuda."""


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
