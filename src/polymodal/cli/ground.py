"""Find the phrases of a caption in a picture: boxes, and how much each phrase attends to them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from polymodal.base.errors import PolymodalError
from polymodal.cli import Device, parse_options

if TYPE_CHECKING:
    from polymodal.base.tables import Table
    from polymodal.systems.grounding.grounded import Grounded
    from polymodal.views.grounding_sheet import GroundedPicture

HELP = """\
Find the phrases of a caption in a picture, by a model of `polymodal train grounding`.

  polymodal ground RUN photo.jpg "a man in a red hat holds a dog" --out found.png --html found.html
  polymodal ground grounding-scenes scene.png "a red cube and a ball" --finder selective-search --out found.png
  polymodal ground RUN photo.jpg "[a man] beside [the man with a hat]" --finder selective-search
  polymodal ground RUN --count 6 --html examples.html

Phrases are what stands in square brackets, and then only that; without brackets, the nouns with their adjectives. Without a picture, captions of the run's own test images are grounded. The attention of each word is shared among all regions, and a phrase has that of the word that attends most, so that its numbers may add up to more than 1; the entropy is high where the model is not sure.
"""  # noqa: E501 (tyro breaks the lines)


@dataclass(frozen=True, kw_only=True)
class Ground:
    """A picture, and what is said of it."""

    run: Annotated[str, Positional, arg(metavar="RUN")]
    """Run directory."""
    about: Annotated[tuple[str, ...], Positional, arg(metavar="[IMAGE CAPTION]")]
    """An image file and its caption; without them, images of the run's own data."""
    finder: str | None = None
    """What finds boxes, such as windows or selective-search; by default what found those of training."""
    box: tuple[str, ...] = ()
    """Boxes to choose among, each as x0,y0,x1,y1 in pixels of the image; what lies outside of the middle
    square that the model sees is cut off."""
    first: int = 3
    """Number of boxes per phrase."""
    split: str = "test"
    """Without an image: the split."""
    count: int = 4
    """Without an image: number of captions."""
    out: Path | None = None
    """PNG file for the picture with its boxes."""
    html: Path | None = None
    """HTML page with the pictures and attention in numbers."""
    json: Path | None = None
    """JSON file for the answers."""
    device: Device = "cpu"

    def __post_init__(self) -> None:
        if len(self.about) not in (0, 2):
            raise PolymodalError(
                f"Give an image and its caption in quotes, or neither, but not {len(self.about)} words."
            )
        if not self.about and (self.box or self.finder is not None):
            raise PolymodalError(
                "--finder and --box are for an image of your own: give the image and its caption too. "
                "Images of the run's own data have the regions of its training."
            )
        if self.first < 1 or self.count < 1:
            raise PolymodalError("--first and --count must be 1 or more.")
        if self.box and self.finder is not None:
            raise PolymodalError(
                "--box and --finder both say which boxes to choose among: give one."
            )
        for place, ending in ((self.out, ".png"), (self.html, ".html"), (self.json, ".json")):
            if place and place.suffix != ending and not place.is_dir():
                raise PolymodalError(f"{place} would be a {ending} file: give it that ending.")


def main(arguments: list[str]) -> None:
    from polymodal.base.files import check_file, write_bytes, write_json
    from polymodal.base.printing import tell
    from polymodal.base.progress import say

    options = parse_options(Ground, "ground", arguments, HELP)
    places = [place for place in (options.out, options.html, options.json) if place]
    for place in places:
        check_file(place)
    boxes = [read_box(text) for text in options.box] or None
    from polymodal.runs.loading import load_for
    from polymodal.views.grounding_sheet import grounding_sheet, write_grounding_page

    system = load_for("ground", options.run, options.device)
    shown = list(
        examples(system, options) if not options.about else [asked_picture(system, options, boxes)]
    )
    if options.out:
        write_bytes(options.out, grounding_sheet(shown))
    if options.html:
        lead = f"Phrases of captions, and what they attend to, by {Path(options.run).name}."
        write_grounding_page(options.html, "Phrase grounding", lead, shown)
    if options.json:
        write_json(options.json, [{"image": s.name, **s.answer.as_json()} for s in shown])
    for one in shown:
        tell(f"{one.name}: {one.answer.caption}")
        table(one.answer).print()
        if one.answer.unknown:
            tell(f"The model has never seen: {', '.join(one.answer.unknown)}.")
    for place in places:
        say(f"Wrote {place}.")


def asked_picture(system: Any, options: Ground, boxes: Any) -> "GroundedPicture":
    """The user's picture."""
    import numpy as np

    from polymodal.data.user_images import opened
    from polymodal.views.grounding_sheet import GroundedPicture

    image, caption = options.about
    how = {"boxes": boxes, "finder": options.finder, "first": options.first}
    answer = system.ground(image, caption, **how)
    return GroundedPicture(image=np.asarray(opened(image)), answer=answer, name=image)


def examples(system: Any, options: Ground) -> "Iterator[GroundedPicture]":
    """The first captions with phrases of a split of the run's own data, each of another image."""
    from polymodal.runs.grounded_examples import grounded_examples
    from polymodal.views.grounding_sheet import GroundedPicture

    found = grounded_examples(
        system, Path(options.run), options.split, options.count, options.first
    )
    for name, image, answer in found:
        yield GroundedPicture(image=image, answer=answer, name=name)


def read_box(text: str) -> list[float]:
    """A box from text.

    >>> read_box("1,2,30,40.5")
    [1.0, 2.0, 30.0, 40.5]
    """
    try:
        found = [float(edge) for edge in text.split(",")]
    except ValueError:
        found = []
    if len(found) != 4:
        raise PolymodalError(
            f"--box takes x0,y0,x1,y1 in pixels, such as 10,20,110,90, not {text!r}."
        )
    return found


def table(answer: "Grounded") -> "Table":
    """The boxes of each phrase."""
    from polymodal.base.tables import Table

    rows = [
        [
            phrase.text if not place else "",
            ", ".join(f"{edge:.0f}" for edge in box),
            f"{share:.2f}",
            f"{phrase.entropy:.1f}" if not place else "",
        ]
        for phrase in answer
        for place, (box, share) in enumerate(zip(phrase.boxes, phrase.attention, strict=True))
    ]
    return Table(header=["phrase", "box", "attention", "entropy"], rows=rows)
