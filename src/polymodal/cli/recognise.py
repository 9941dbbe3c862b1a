"""Classify images with a trained model, including classes without training images."""

from dataclasses import dataclass

from polymodal.base.errors import PolymodalError
from polymodal.cli import Device, parse_options
from polymodal.cli.caption import AboutImages

HELP = """\
Print the most likely classes of images, one line per image, with the cosine of each class's prototype.

  polymodal recognise cmdim-birds bird.png --unseen
  polymodal recognise runs/birds *.jpg --among "001.Black_footed_Albatross" "002.Laysan_Albatross"

RUN is a run directory of `polymodal train fc` or another zero-shot system, or the shipped model cmdim-birds. Images are preprocessed as the run's data: the centre square, resized.

Every class with attributes is a candidate, with or without training images. But among all classes the model nearly always prefers those with training images. So restrict the candidates: --among NAME ..., or --unseen for the classes without training images.
"""  # noqa: E501 (tyro breaks the lines)


@dataclass(frozen=True, kw_only=True)
class Recognise(AboutImages):
    """Images to recognise, and candidate classes."""

    among: tuple[str, ...] = ()
    """Candidate classes; by default all."""
    unseen: bool = False
    """Only classes without training images."""
    first: int = 3
    """Number of classes to print per image."""
    device: Device = "cpu"


def main(arguments: list[str]) -> None:
    from polymodal.base.printing import tell
    from polymodal.base.progress import say
    from polymodal.runs.loading import load_for

    options = parse_options(Recognise, "recognise", arguments, HELP)
    if options.among and options.unseen:
        raise PolymodalError(
            "--among and --unseen both choose the candidate classes: give one of them."
        )
    system = load_for("recognise", options.run, options.device)
    if options.unseen and not system.unseen:
        raise PolymodalError("This model had training images of all classes. Leave --unseen out.")
    candidates = system.unseen if options.unseen else options.among or None
    width = max(len(str(image)) for image in options.images)
    answers = system.recognise(options.images, among=candidates, first=options.first)
    say("The likeliest classes of each image, with the cosine of their prototype: no probability.")
    for image, classes in zip(options.images, answers, strict=True):
        cosines = "  ".join(f"{name} {cosine:.2f}" for name, cosine in classes)
        tell(f"{image!s:{width}}  {cosines}")
