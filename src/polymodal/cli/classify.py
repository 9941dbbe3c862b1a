"""Tell findings from images, such as chest X-rays, with a trained model. Not a medical device."""

from dataclasses import dataclass

from polymodal.base.errors import PolymodalError
from polymodal.cli import Device, parse_options
from polymodal.cli.caption import AboutImages

HELP = """\
Print the findings in images, the likeliest first, one line per image, by a model of `polymodal train findings`.

  polymodal classify RUN xray.png
  polymodal classify RUN *.png --first 14

The probabilities are those of the training data and were not calibrated: where findings are rarer, they are too high.

For research. It is not a medical device and must not be used for diagnosis.
"""  # noqa: E501 (tyro breaks the lines)


@dataclass(frozen=True, kw_only=True)
class Classify(AboutImages):
    """Images to tell findings from."""

    first: int = 5
    """Number of findings to print per image."""
    device: Device = "cpu"


def main(arguments: list[str]) -> None:
    from polymodal.base.printing import tell
    from polymodal.base.progress import say
    from polymodal.runs.loading import load_for

    options = parse_options(Classify, "classify", arguments, HELP)
    if options.first < 1:
        raise PolymodalError(f"--first must be 1 or more, not {options.first}.")
    system = load_for("classify", options.run, options.device)
    width = max(len(str(image)) for image in options.images)
    for image, found in zip(options.images, system.classify(options.images), strict=True):
        best = sorted(found.items(), key=lambda one: -one[1])[: options.first]
        told = "  ".join(f"{name} {chance:.2f}" for name, chance in best)
        tell(f"{image!s:{width}}  {told}")
    say("For research: not a medical device. The probabilities were not calibrated.")
