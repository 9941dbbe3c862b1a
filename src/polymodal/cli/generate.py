"""Generate images from text, or images and texts together, with a trained model."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, UseAppendAction, arg

from polymodal.cli import Device, parse_options

if TYPE_CHECKING:
    from polymodal.systems.vlvae.vlvae_module import VLVAE
    from polymodal.views.picture_sheet import Row

HELP = """\
Generate images from text, or images and texts together, with a trained model.

  polymodal generate vlvae-two-objects --text "large red metal cube left small blue rubber sphere"
  polymodal generate vlvae-two-objects --count 16 --out pairs.png

RUN is a run directory of `polymodal train vlvae`, or the shipped model vlvae-two-objects. A text of two-objects has nine words: size, colour, material and shape of one object, its position relative to the other, and size, colour, material and shape of the other.

  small large
  cyan red gray blue yellow purple brown green
  rubber metal
  sphere cylinder cube
  left right front behind
"""  # noqa: E501 (tyro breaks the lines)

MOST = 1000
"""Pictures that a sheet has room for."""


@dataclass(frozen=True, kw_only=True)
class Generate:
    """Images to generate."""

    run: Annotated[str, Positional, arg(metavar="RUN")]
    """Run directory, or name of a shipped model."""
    text: UseAppendAction[tuple[str, ...]] = ()
    """Text of the images; repeat the flag for more rows. Without it images and texts are sampled
    together."""
    count: int = 8
    """Number of images per text."""
    out: str = "sheet.png"
    """PNG file for one sheet, or a folder, as pictures/, for single images and a captions.csv."""
    by: Literal["aggregate", "true"] | None = None
    """With --text: sample z from q_agg(z|y), the aggregate posterior of the images of the text (the
    default), or from q_true(z|y), the posterior of the text."""
    prior: Literal["aggregate", "normal"] | None = None
    """Without --text: sample z from the aggregate prior q(z) (the default), or from N(0, I)."""
    seed: int = 0
    """Random seed; the same seed and count give the same images."""
    device: Device = "cpu"


def main(arguments: list[str]) -> None:
    options = parse_options(Generate, "generate", arguments, HELP)
    refuse_contradictions(options)
    check_out(options.out, options.count * max(len(options.text), 1))
    from polymodal.base.progress import say
    from polymodal.runs.loading import load_for

    run, out, seed = options.run, options.out, options.seed
    rows, how = sample(load_for("generate", run, options.device), options)
    if is_folder(out):
        write_each(Path(out), rows)
        say(f"Pictures 0001.png … and their captions.csv are in {out}: {how}, seed {seed}.")
        say(f"Next: polymodal caption {run} {Path(out) / '0001.png'}")
    else:
        write_sheet(Path(out), rows, f"{Path(run).resolve().name} · {how} · seed {seed}")
        say(f"Wrote {out}: {how}, seed {seed}.")
        say(f"Next: --seed {seed + 1} for others, --out pictures/ for each in a file.")


def sample(system: "VLVAE", options: Generate) -> "tuple[list[Row], str]":
    """The rows of a sheet, and how z was sampled."""
    from polymodal.views.picture_sheet import Row

    count, seed = options.count, options.seed
    if not options.text:
        pairs = system.sample(count, prior=options.prior or "aggregate", seed=seed)
        how = "z from N(0, I)" if options.prior == "normal" else "z from the aggregate prior q(z)"
        return [Row(images=pairs.images, captions=pairs.texts)], how
    by = options.by or "aggregate"
    how = "z from q_true(z|y)" if by == "true" else "z from q_agg(z|y)"
    generated = {text: system.generate(text, count, by=by, seed=seed) for text in options.text}
    return [Row(title=text, images=generated[text]) for text in options.text], how


def refuse_contradictions(options: Generate) -> None:
    """Refuse options that contradict each other."""
    from polymodal.base.errors import PolymodalError

    if options.by and not options.text:
        raise PolymodalError("--by says how a text is drawn: give a --text, or leave out --by.")
    if options.prior and options.text:
        raise PolymodalError("--prior is for pictures from nothing: leave out --prior, or --text.")
    if not 0 <= options.seed < 2**63:
        raise PolymodalError(f"--seed must be 0 or more and below 2^63, not {options.seed}.")


def is_folder(out: str) -> bool:
    """Whether pictures go into a folder, each in a file.

    >>> is_folder("pictures/"), is_folder("pictures"), is_folder("sheet.png")
    (True, True, False)
    """
    path = Path(out)
    return out.endswith("/") or path.is_dir() or not path.suffix


def check_out(out: str, count: int) -> None:
    """Refuse a place that pictures cannot go to, before they are drawn."""
    from polymodal.base.errors import PolymodalError
    from polymodal.base.files import check_file
    from polymodal.data.writing import check_new

    if is_folder(out):
        check_new(Path(out))
        return
    check_file(Path(out))
    if not out.endswith(".png"):
        raise PolymodalError(
            f"A sheet is written as .png, but --out is {out}. A folder ends in a slash: {out}/"
        )
    if count > MOST:
        raise PolymodalError(
            f"A sheet has room for {MOST} pictures, but {count} were asked for. Give a folder, as "
            "--out pictures/, or a smaller --count."
        )


def write_sheet(out: Path, rows: "Sequence[Row]", foot: str) -> None:
    """Write all as one picture."""
    from polymodal.base.files import write_bytes
    from polymodal.views.picture_sheet import sheet

    write_bytes(out, sheet(rows, foot))


def write_each(folder: Path, rows: "Sequence[Row]") -> None:
    """Write each picture, with its text."""
    from polymodal.data.writing import write_pictures

    pairs = [
        (image, text)
        for row in rows
        for image, text in zip(
            row.images, row.captions or [row.title] * len(row.images), strict=True
        )
    ]
    numbered = ((f"{n:04d}.png", image, [text]) for n, (image, text) in enumerate(pairs, 1))
    write_pictures(folder, numbered)
