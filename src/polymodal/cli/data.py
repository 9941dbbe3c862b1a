"""Render a synthetic dataset to disk, show or count any dataset, or export its images."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tyro

from polymodal.cli import SkipBad

if TYPE_CHECKING:
    from polymodal.data.records import Dataset

HELP = """\
Render a synthetic dataset (a world) to disk, show or count any dataset, or export its images.

usage: polymodal data draw WORLD --count N --out DIR
       polymodal data show WORLD|DIR|folder:PATH --out sheet.png
       polymodal data count WORLD|DIR|folder:PATH
       polymodal data export WORLD|DIR|folder:PATH --split test --count N --out PICTURES

worlds
{worlds}
Options follow the name: scenes,size=64,seed=1,objects=2-4,overlap=yes,hold_out=purple cylinder
Zero-shot datasets: cub:PATH, awa2:PATH or sun:PATH, followed by ,splits=PATH, their xlsa17 folder
Datasets with boxes: flickr30k:PATH,images=PATH or coco:PATH
Medical images: lgg:PATH, slices:PATH, brats:PATH or open-i:PATH
"""


def main(arguments: list[str]) -> None:
    from polymodal.base.errors import unknown
    from polymodal.base.printing import tell
    from polymodal.cli import listing
    from polymodal.data.drawn import phantoms, xrays
    from polymodal.data.drawn.birds import Birds
    from polymodal.data.drawn.scenes import WORLDS

    verb = arguments[0] if arguments else "--help"
    if verb in ("-h", "--help"):
        others = {"birds": Birds(), "xrays": xrays.named()}
        others |= {name: phantoms.named(name) for name in phantoms.NAMES}
        known = {name: extent(world) for name, world in (WORLDS | others).items()}
        tell(HELP.format(worlds=listing(known)))
        return
    verbs: dict[str, Callable[..., None]] = {
        "draw": draw,
        "show": show,
        "count": count,
        "export": export,
    }
    if verb not in verbs:
        raise unknown("verb of data", verb, verbs)
    tyro.cli(verbs[verb], args=arguments[1:], prog=f"polymodal data {verb}")


def extent(world: object) -> str:
    """How large a world is by default."""
    return "{train} / {val} / {test} images of {size}×{size} for training, validation, test".format(
        **vars(world)
    )


def draw(
    world: tyro.conf.Positional[str],
    out: Path,
    count: int | None = None,
) -> None:
    """Render a world into a folder: memory-mapped, checked by hash; repeat the command to resume.

    Args:
        world: scenes, two-objects or one-object, followed by options as ,name=value.
        out: Folder to create or resume.
        count: Total number of images, divided among the splits in their default proportions.
    """
    from polymodal.base.errors import PolymodalError
    from polymodal.base.files import check_folder
    from polymodal.base.progress import say
    from polymodal.data.drawn import scenes as worlds
    from polymodal.data.medical_sources import DRAWN
    from polymodal.data.sources import parse, world_options

    name, options = parse(world)
    if name == "birds":
        raise PolymodalError(
            "birds are rendered whenever they are used, so they are not saved. Use --data birds "
            "directly. For image files: `polymodal data export birds "
            f"--split test --count 9 --out {out}`."
        )
    if name in DRAWN:
        raise PolymodalError(
            f"{name} are rendered whenever they are used, so they are not saved. Use --data {name} "
            f"directly. To look at them: `polymodal data show {name} --out sheet.png`."
        )
    if count is not None and count < 1:
        raise PolymodalError(f"--count must be 1 or more, not {count}.")
    chosen = worlds.named(**world_options(name, options | ({"count": str(count)} if count else {})))
    check_folder(out)
    worlds.draw(chosen, out)
    say(f"{chosen.train + chosen.val + chosen.test} images of {name} are in {out}. Next:")
    say(f"  polymodal data show {out} --out sheet.png")
    say(f"  polymodal train vse --data {out} --run runs/NAME")


def show(
    data: tyro.conf.Positional[str],
    out: Path,
    split: str = "train",
    count: int = 12,
    skip_bad: SkipBad = False,
) -> None:
    """Write a contact sheet: images with their captions and, if known, their boxes; or modalities side by
    side, with outlines of the mask's classes.

    Args:
        data: A world with its options, the folder of a rendered world, or folder:PATH.
        out: PNG file to write.
        split: train, val, test or composition.
        count: Number of images.
    """
    from polymodal.base.files import check_file
    from polymodal.base.progress import say
    from polymodal.views.contact_sheet import contact_sheet
    from polymodal.views.modality_sheet import modality_sheet

    check_file(out)
    chosen = split_of(data, split, skip_bad)
    sheet = contact_sheet if "image" in chosen.columns else modality_sheet
    sheet(chosen, out, count=count)
    say(f"Wrote {out}: {min(count, len(chosen))} of {len(chosen)} images of {split}.")


def count(data: tyro.conf.Positional[str], skip_bad: SkipBad = False) -> None:
    """Print how many images, captions, regions and phrases each split has, and how many phrases have a
    box, type by type; of scans and films, how many patients, modalities and findings.

    Args:
        data: A world with its options, the folder of a rendered world, or folder:PATH.
    """
    from polymodal.base.tables import Table
    from polymodal.data.phrase_counts import counts
    from polymodal.data.sources import look_at, report_skipped

    splits = look_at(data, skip_bad=skip_bad)
    report_skipped(splits)
    by_split = {name: counts(split) for name, split in splits.items()}
    names = dict.fromkeys(name for some in by_split.values() for name in some)
    rows = [[name, *(f"{some.get(name, 0):,}" for some in by_split.values())] for name in names]
    Table(header=["count", *by_split], rows=rows).print(turn=False)


def export(
    data: tyro.conf.Positional[str],
    out: Path,
    split: str = "test",
    count: int = 12,
    skip_bad: SkipBad = False,
) -> None:
    """Write images of a dataset as PNG files with a captions.csv, in one folder per class. `folder:OUT`
    reads them as data.

    Args:
        data: A world with its options, the folder of a rendered world, folder:PATH or
            cub:PATH,splits=PATH.
        out: Folder to write into; it must be new or empty.
        split: train, val, test or another split of the data.
        count: Number of images, a random sample that is the same every time.
    """
    import numpy as np

    from polymodal.base.errors import PolymodalError
    from polymodal.base.progress import say
    from polymodal.data.classes import has_classes
    from polymodal.data.writing import check_new, write_pictures

    if count < 1:
        raise PolymodalError(f"--count must be 1 or more, not {count}.")
    check_new(out)
    chosen = split_of(data, split, skip_bad)
    places = sorted(np.random.default_rng(0).permutation(len(chosen))[:count].tolist())
    kinds = chosen if has_classes(chosen) else None

    def named() -> Iterator[tuple[str, Any, list[str]]]:
        for number, place in enumerate(places, 1):
            kind = f"{kinds.classes[kinds.labels[place]].replace('/', '_')}/" if kinds else ""
            record = chosen[place]
            yield (
                f"{kind}{number:04d}.png",
                record.image,
                [caption.text for caption in record.captions],
            )

    write_pictures(out, named())
    say(f"{len(places)} of {len(chosen)} pictures of {split} are in {out}.")


def split_of(data: str, split: str, skip_bad: bool) -> "Dataset":
    """A split of a dataset, by name."""
    from polymodal.base.errors import unknown
    from polymodal.data.sources import look_at, report_skipped

    splits = look_at(data, skip_bad=skip_bad)
    report_skipped(splits)
    if split not in splits:
        raise unknown(f"split of {data}:", split, splits)
    return splits[split]
