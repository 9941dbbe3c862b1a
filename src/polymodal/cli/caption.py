"""Caption images with a trained model, with a probability for each word."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from polymodal.base.errors import PolymodalError
from polymodal.cli import Device, parse_options

HELP = """\
Caption images with a trained model, one line per image.

  polymodal caption vlvae-two-objects image.png
  polymodal caption runs/v *.png --probabilities

RUN is a run directory of `polymodal train vlvae`, or the shipped model vlvae-two-objects. Images are preprocessed as the run's data: the centre square, resized.

A probability is that of a word given the image and the words before it. It is about one half where two words are equally true: which object comes first, and which relation is used. It has no meaning for images unlike the run's data: the model is just as certain about them.
"""  # noqa: E501 (tyro breaks the lines)


@dataclass(frozen=True, kw_only=True)
class AboutImages:
    """What verbs ask for that print a line an image."""

    run: Annotated[str, Positional, arg(metavar="RUN")]
    """Run directory, or name of a shipped model."""
    images: Annotated[tuple[Path, ...], Positional, arg(metavar="IMAGE [IMAGE ...]")]
    """Image files."""

    def __post_init__(self) -> None:
        if not self.images:
            raise PolymodalError(f"Name at least one image, as in {self.run} image.png.")


@dataclass(frozen=True, kw_only=True)
class Caption(AboutImages):
    """Images to caption."""

    probabilities: bool = False
    """Print the probability of each word after it."""
    device: Device = "cpu"


def main(arguments: list[str]) -> None:
    from polymodal.base.printing import tell
    from polymodal.runs.loading import load_for

    options = parse_options(Caption, "caption", arguments, HELP)
    system = load_for("caption", options.run, options.device)
    width = max(len(str(image)) for image in options.images)
    for image, caption in zip(options.images, system.describe(options.images), strict=True):
        text = " ".join(caption.words)
        if options.probabilities:
            pairs = zip(caption.words, caption.probabilities, strict=True)
            text = "  ".join(f"{word} {p:.2f}" for word, p in pairs)
        tell(f"{image!s:{width}}  {text}")
