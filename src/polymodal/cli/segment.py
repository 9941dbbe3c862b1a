"""Segment a scan with a trained model, from any of its modalities. Not a medical device."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from polymodal.base.errors import PolymodalError
from polymodal.cli import Device, parse_options

if TYPE_CHECKING:
    from polymodal.base.tables import Table
    from polymodal.data.scan_files import Scan
    from polymodal.systems.medical.segmentation import Segmentation

HELP = """\
Segment a scan: the class of each pixel or voxel, by a model of `polymodal train cmim`.

  polymodal segment RUN --flair flair.nii.gz --t1 t1.nii.gz --out found.nii.gz
  polymodal segment RUN --flair flair.png --out found.png --overlay look.png
  polymodal segment RUN --scan adc=adc.nii.gz --out found.nii.gz

Any of the modalities that the model was trained with is enough. All files show the same places: volumes of one shape and affine, or grey pictures of one size. The output has the shape and affine of the input.

A model of slices takes a volume plane by plane (--axis). A slice of another size than those of the training is brought to their size, with bars of 0 beside its shorter side, and the labels back to its own (--as-is keeps it). What keeps its size: volumes, planes for a model that was trained on planes of volumes, and slices for a model that was trained on patches of slices of their own size.

For research. It is not a medical device and must not be used for diagnosis.
"""  # noqa: E501 (tyro breaks the lines)


@dataclass(frozen=True, kw_only=True)
class Segment:
    """Files of one scan, and where to write what is found."""

    run: Annotated[str, Positional, arg(metavar="RUN")]
    """Run directory."""
    t1: Path | None = None
    """T1-weighted."""
    t1c: Path | None = None
    """T1-weighted with contrast agent."""
    t2: Path | None = None
    """T2-weighted."""
    flair: Path | None = None
    """FLAIR."""
    scan: tuple[str, ...] = ()
    """Other modalities, each as NAME=FILE."""
    out: Path
    """File for the labels: .png for a picture, .nii or .nii.gz for a volume, .npy for an array."""
    overlay: Path | None = None
    """PNG file for the scan with the labels in colour; of a volume, its fullest plane."""
    axis: Literal[0, 1, 2] | None = None
    """Axis of a volume's file along which a model of slices takes its planes; by default the last, 2."""
    as_is: bool = False
    """Keep the size of slices, whatever that of the training's was."""
    flips: bool = False
    """Mean over the scan and its mirror image."""
    window: int | None = None
    """Side of the windows in which a large scan is segmented; by default that of the training patches, or of volumes that are larger than the training's."""  # noqa: E501 (tyro breaks the lines)
    overlap: float = 0.25
    """How much of a window's side the next one shares; less is faster and rougher where windows meet."""
    precision: Literal["32", "bf16"] = "32"
    """float32, or bf16 convolutions: faster on processors and GPUs that have them, a little less exact."""
    device: Device = "cpu"


def main(arguments: list[str]) -> None:
    from polymodal.base.files import check_file, write_bytes
    from polymodal.base.progress import say

    options = parse_options(Segment, "segment", arguments, HELP)
    places = [place for place in (options.out, options.overlay) if place]
    for place in places:
        check_file(place)
    files = given_files(options)
    from polymodal.data.scan_files import write_labels
    from polymodal.runs.loading import load_for

    scans, affine = read_all(files)
    check_out(options.out, next(iter(scans.values())))
    system = load_for("segment", options.run, options.device)
    found = system.segment(
        scans,
        axis=options.axis,
        as_is=options.as_is,
        flips=options.flips,
        window=options.window,
        overlap=options.overlap,
        precision=options.precision,
    )
    write_labels(options.out, found.labels, affine)
    if options.overlay:
        first = {found.modalities[0]: scans[found.modalities[0]]}
        shown = system.read(first, axis=options.axis, as_is=True).picture()
        write_bytes(options.overlay, picture(shown, found, affine, options.axis))
    table(found).print(f"Found with {' and '.join(found.modalities)}")
    if found.resized:
        size = "×".join(map(str, found.resized))
        say(
            f"Slices were brought to {size}, as those of the training, and the labels back. "
            "--as-is keeps their size."
        )
    for place in places:
        say(f"Wrote {place}.")
    say("For research: not a medical device.")


def given_files(options: Segment) -> dict[str, Path]:
    """The file of each modality."""
    named = {name: getattr(options, name) for name in ("t1", "t1c", "t2", "flair")}
    found: dict[str, Path] = {name: path for name, path in named.items() if path}
    for text in options.scan:
        name, equals, path = text.partition("=")
        if not (name and equals and path) or name in found:
            raise PolymodalError(
                f"--scan takes NAME=FILE, each name once, such as adc=adc.nii.gz, not {text!r}."
            )
        found[name] = Path(path)
    if not found:
        raise PolymodalError("Give one modality at least, such as --flair flair.nii.gz.")
    return found


def read_all(files: dict[str, Path]) -> tuple[dict[str, Any], Any]:
    """The scan of each file, and the affine that all have."""
    import numpy as np

    from polymodal.data.scan_files import read_scan

    scans: dict[str, Any] = {}
    affine: Any = None
    first: Path | None = None
    for name, path in files.items():
        scans[name] = read_scan(path)
        own = scans[name].affine
        if first is None:
            affine, first = own, path
            continue
        both = own is not None and affine is not None
        if own is not affine and not (both and np.allclose(own, affine, atol=1e-3)):
            raise PolymodalError(
                f"{path} and {first} do not lie in the same place: their affines differ. Register and "
                "resample them to one grid."
            )
    return scans, affine


def check_out(out: Path, scan: "Scan") -> None:
    """Refuse an output of another kind than the input."""
    kind, wanted = "a picture", [".png"]
    if scan.affine is not None:
        kind, wanted = "a volume", [".nii", ".nii.gz"]
    elif scan.bare:
        kind, wanted = "an array", [".npy"]
    if not out.name.endswith(tuple(wanted)):
        raise PolymodalError(
            f"The labels of {kind} are written as {' or '.join(wanted)}, but --out is {out}."
        )


def picture(scan: Any, found: "Segmentation", affine: Any, axis: int | None) -> bytes:
    """The scan beside itself with its classes; of a volume, the plane that has most of them, upright."""
    import numpy as np

    from polymodal.views.segmentation_overlay import fullest, overlay
    from polymodal.views.upright_planes import Turn, upright

    classes, turn = found.chances.argmax(0), Turn()
    if classes.ndim == 3:
        along = 0 if axis is None else 2 - axis
        scan, classes = np.moveaxis(scan, along, 0), np.moveaxis(classes, along, 0)
        plane = fullest(classes)
        scan, classes = scan[plane], classes[plane]
        turn = turn if affine is None else upright(affine, along)
    return overlay(turn(scan), turn(classes), found.classes[1:], turn.pixel)


def table(found: "Segmentation") -> "Table":
    """How many places each class has, and how likely it is there."""
    from polymodal.base.tables import Table

    best = found.chances.argmax(0)
    rows = []
    for place, name in enumerate(found.classes):
        own = best == place
        sure = f"{found.chances[place][own].mean():.2f}" if own.any() else "–"
        rows.append([name, f"{own.sum():,}", f"{100 * own.mean():.2f}", sure])
    return Table(header=["class", "places", "%", "mean probability"], rows=rows)
