"""Datasets by a short name: `scenes,size=64`, `folder:PATH,size=128`, or the folder of a drawn set.

Some datasets have two paths: `cub:PATH,splits=PATH`, `flickr30k:PATH,images=PATH`. Those of medicine are
opened by `medical_sources`.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polymodal.base.errors import PolymodalError, unknown
from polymodal.base.progress import say
from polymodal.data.option_values import flag, number, typed
from polymodal.data.records import Dataset

TRAILING = re.compile(r"(?:,(?:splits|images)=(?:[^,]|,(?![a-z_]+=))*|,[a-z_]+=[^,/]*)*$")
"""Options at the end of a name; only `splits` and `images`, paths, may have / and a comma in them."""


LOCATED: Mapping[str, Mapping[str, type]] = {
    "flickr30k": {"images": str, "split": str, "size": int},
    "coco": {"images": str, "captioned": bool, "stuff": bool, "squash": bool, "size": int},
    "vg": {"images": str, "instances": int, "relationships": int, "size": int},
}
"""Datasets with boxes, and the options of each."""


def parse(spec: str) -> tuple[str, dict[str, str]]:
    """A dataset's name and its options.

    >>> parse("folder:my photos, 2024,size=128")
    ('folder:my photos, 2024', {'size': '128'})
    """
    tail = TRAILING.search(spec)
    options = tail.group() if tail else ""
    name = spec[: len(spec) - len(options)]
    pairs = [part.partition("=")[::2] for part in re.split(r",(?=[a-z_]+=)", options)[1:]]
    given = dict(pairs)
    if len(given) < len(pairs):
        raise PolymodalError(f"{spec!r} gives an option twice. Give each once.")
    return name, given


def open_splits(spec: str, *, skip_bad: bool = False) -> Mapping[str, Dataset]:
    """The splits of a dataset by name; a world is drawn into the cache on first use."""
    from polymodal.data.class_folder import READERS
    from polymodal.data.medical_sources import MEDICAL, open_medical

    name, options = parse(spec)
    if name.partition(":")[0] in MEDICAL:
        return open_medical(name, options, skip_bad)
    if name.startswith("folder:"):
        return open_own(name.removeprefix("folder:"), options, skip_bad)
    if name.startswith("text:"):
        return open_text(name.removeprefix("text:"), options)
    kind, colon, path = name.partition(":")
    if colon and kind in LOCATED:
        return open_located(kind, path, options, skip_bad)
    if colon and kind in READERS:
        return open_zeroshot(kind, path, options, skip_bad)
    if (Path(name) / "manifest.json").is_file():
        if options:
            raise PolymodalError(
                f"{name} is drawn already, so {', '.join(options)} cannot be set any more."
            )
        from polymodal.data.drawn.scenes import open_drawn

        return open_drawn(Path(name))
    if Path(name).is_dir():
        raise PolymodalError(
            f"{name} is a folder without a drawn set. For your own images and captions say "
            f"folder:{name}; to draw a world into it, `polymodal data draw WORLD --out {name}`."
        )
    if name == "birds":
        return open_birds(options)
    from polymodal.data.drawn.scenes import open_world  # which compiles the tracer

    return open_world(**world_options(name, options))


def look_at(spec: str, *, skip_bad: bool = False) -> Mapping[str, Dataset]:
    """The same splits, a world drawn on the fly: for a look at some of its images."""
    name, options = parse(spec)
    if ":" in name:  # no world's
        return open_splits(spec, skip_bad=skip_bad)
    from polymodal.data.drawn.scenes import WORLDS, named  # which compiles the tracer

    if name in WORLDS:
        return named(**world_options(name, options)).splits()
    return open_splits(spec, skip_bad=skip_bad)


def report_skipped(splits: Mapping[str, Dataset], most: int = 20) -> None:
    """Say what was left out of the data."""
    skipped = getattr(splits, "skipped", ())
    if skipped:
        say(f"{len(skipped)} bad records were left out:")
        for flaw in skipped[:most]:
            say(f"  {flaw.where}: {flaw.reason}")
        if len(skipped) > most:
            say(f"  and {len(skipped) - most} more.")


def open_own(path: str, options: Mapping[str, str], skip_bad: bool) -> Mapping[str, Dataset]:
    """A folder of the user's."""
    from polymodal.data.folder import open_folder

    for option in options:
        if option != "size":
            raise unknown("option of folder:", option, ["size"])
    size = number("size", options.get("size", "224"))
    return open_folder(Path(path), size=size, skip_bad=skip_bad)


def open_text(path: str, options: Mapping[str, str]) -> Mapping[str, Dataset]:
    """Sentences without pictures."""
    from polymodal.data.sentences import open_sentences

    if options:
        raise PolymodalError(f"text: has no options, but {', '.join(options)} is given.")
    return open_sentences(path)


def open_birds(options: Mapping[str, str]) -> Mapping[str, Dataset]:
    """The world of birds, whose images are drawn whenever they are asked for."""
    from polymodal.data.drawn import birds

    return birds.named(**{name: number(name, text) for name, text in options.items()}).splits()


def open_located(
    kind: str, path: str, options: Mapping[str, str], skip_bad: bool
) -> Mapping[str, Dataset]:
    """A dataset with boxes in its own files."""
    from polymodal.data.region_folder import open_coco, open_entities, open_genome

    given = typed(LOCATED[kind], options, f"{kind}:")
    if kind == "coco":
        return open_coco(path, skip_bad=skip_bad, **given)
    if kind == "vg":
        return open_genome(path, skip_bad=skip_bad, **given)
    if "images" not in given:
        raise PolymodalError(
            f"flickr30k:{path} lacks its pictures. Add ,images=PATH, their folder or zip; of several, "
            "write + between them."
        )
    return open_entities(path, skip_bad=skip_bad, **given)


def open_zeroshot(
    kind: str, path: str, options: Mapping[str, str], skip_bad: bool
) -> Mapping[str, Dataset]:
    """A zero-shot dataset in its own files, with its splits in theirs."""
    from polymodal.data.class_folder import open_classes

    for option in options:
        if option not in ("splits", "size", "fold"):
            raise unknown(f"option of {kind}:", option, ["splits", "size", "fold"])
    if "splits" not in options:
        raise PolymodalError(
            f"{kind}:{path} lacks its splits. Add ,splits=PATH, the folder of xlsa17 for it."
        )
    return open_classes(
        kind,
        path,
        splits=options["splits"],
        size=number("size", options.get("size", "128")),
        fold=number("fold", options.get("fold", "1")),
        skip_bad=skip_bad,
    )


def world_options(name: str, options: Mapping[str, str]) -> dict[str, Any]:
    """A world's name and fields from text; `count` is shared among the splits as they are by default.

    >>> world_options("scenes", {"count": "100", "hold_out": "purple cylinder+red cube"})
    {'name': 'scenes', 'train': 80, 'val': 10, 'test': 10, 'hold_out': ('purple cylinder', 'red cube')}
    """
    from polymodal.data.class_folder import READERS
    from polymodal.data.drawn.scenes import WORLDS
    from polymodal.data.medical_sources import DRAWN, FILES

    if name not in WORLDS:
        paths = [f"{kind}:PATH" for kind in ("folder", "text", *READERS, *LOCATED, *FILES)]
        known = [*WORLDS, "birds", *DRAWN, *paths]
        raise unknown("dataset", name, known)
    fields: dict[str, Any] = {"name": name}
    for option, text in options.items():
        if option == "count":
            fields |= shares(WORLDS[name], number(option, text))
        elif option == "hold_out":
            fields[option] = tuple(text.split("+"))
        elif option == "objects":
            fewest, _, most = text.partition("-")
            fields[option] = (number(option, fewest), number(option, most or fewest))
        elif option == "overlap":
            fields[option] = flag(option, text)
        else:
            fields[option] = number(option, text)
    return fields


def shares(world: Any, count: int) -> dict[str, int]:
    """Divide `count` images among a world's splits in their usual proportion."""
    whole = world.train + world.val + world.test
    val, test = count * world.val // whole, count * world.test // whole
    return {"train": count - val - test, "val": val, "test": test}
