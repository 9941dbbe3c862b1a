"""Show the layouts of a dataset: which objects are where, beside its pictures."""

from pathlib import Path

import tyro

from polymodal.cli import SkipBad

HELP = """\
Show the layouts of a dataset: which objects are where, beside its pictures.

usage: polymodal layout show DATA --out sheet.png

  polymodal layout show scenes --least-area 0 --out scenes.png
  polymodal layout show coco:PATH,squash=yes --out coco.png
  polymodal layout show vg:PATH,images=PATH --most 30 --least-area 0 --out genome.png
  polymodal layout show birds --most 15 --least-area 0 --part-side 0.12 --out birds.png
"""


def main(arguments: list[str]) -> None:
    from polymodal.base.errors import unknown
    from polymodal.base.printing import tell

    verb = arguments[0] if arguments else "--help"
    if verb in ("-h", "--help"):
        tell(HELP)
        return
    if verb != "show":
        raise unknown("verb of layout", verb, ["show"])
    tyro.cli(show, args=arguments[1:], prog="polymodal layout show")


def show(
    data: tyro.conf.Positional[str],
    out: Path,
    split: str = "train",
    count: int = 12,
    fewest: int = 3,
    most: int = 8,
    least_area: float = 0.02,
    part_side: float = 0.2,
    skip_bad: SkipBad = False,
) -> None:
    """Write a sheet of layouts: boxes with their numbers and names, and the picture with the same boxes.

    Args:
        data: Dataset with boxes or parts, named as in `polymodal train`.
        out: PNG file to write.
        split: Split of the data.
        count: Number of layouts.
        fewest: Items with fewer objects are left out.
        most: Items with more objects are left out.
        least_area: Objects whose box is no larger share of the picture are left out.
        part_side: Side of the box of a part, in sides of the picture, where data have no boxes.
    """
    from polymodal.base.errors import PolymodalError
    from polymodal.base.files import check_file, write_bytes
    from polymodal.base.progress import say
    from polymodal.cli.data import split_of
    from polymodal.data.layouts import LayoutRules, classes_of, layouts_of
    from polymodal.views.layout_sheet import ShownLayout, layout_sheet

    if count < 1:
        raise PolymodalError(f"--count must be 1 or more, not {count}.")
    check_file(out)
    rules = LayoutRules(fewest=fewest, most=most, least_area=least_area, part_side=part_side)
    whole = split_of(data, split, skip_bad)
    some = whole.take(range(min(len(whole), LOOKED_AT * count)))
    classes = classes_of(some, part_side)
    chosen = layouts_of(some, classes, rules)
    places = chosen.items[:count].tolist()
    shown = [
        ShownLayout(
            layout=chosen.rows.layout(row, classes),
            pictures=some.images([place]),
            name=some.ids[place],
        )
        for row, place in enumerate(places)
    ]
    write_bytes(out, layout_sheet(shown))
    say(
        f"Wrote {out}: {len(shown)} layouts of {split}. Of its first {len(some):,} items: {chosen}."
    )


LOOKED_AT = 20
"""Items that are looked through for each layout to show: many may be left out."""
