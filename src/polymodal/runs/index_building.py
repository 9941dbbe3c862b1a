"""An index of a run's images or captions, made so that a kill loses little."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from polymodal import systems
from polymodal.base.errors import PolymodalError, unknown
from polymodal.base.files import fingerprint, sweep
from polymodal.base.locks import writing
from polymodal.base.progress import progress_bar, say
from polymodal.data.records import Dataset
from polymodal.data.sources import parse
from polymodal.runs import shipped
from polymodal.runs.jobs import open_data
from polymodal.runs.loading import load
from polymodal.runs.run_folder import Run
from polymodal.search import (
    Calibration,
    Index,
    Origin,
    Settings,
    Side,
    build,
    calibrate,
    open_index,
    remote,
    save,
)
from polymodal.search.asking import identity, similarity_of
from polymodal.search.dataset_records import Records
from polymodal.search.index import check_settings
from polymodal.search.index_folder import EARLIER, NAME, save_calibration
from polymodal.search.index_settings import EXACT
from polymodal.search.tensors import embed_in_parts
from polymodal.systems import retrieval
from polymodal.systems.retrieval import Retrieval

KEPT: dict[str, Side] = {"images": "image", "captions": "caption"}


def index_run(
    run: Path,
    out: Path,
    *,
    data: str | None = None,
    features: Path | None = None,
    split: Sequence[str] = ("test",),
    items: Literal["images", "captions"] = "images",
    settings: Settings = EXACT,
    skip_bad: bool = False,
    device: str = "cpu",
) -> Index:
    """Embed the images or the captions of some splits and leave an index; killed, the same call goes on.

    Args:
        run: the run whose model embeds them.
        out: the folder to make, or to go on with.
        data: other data than the run was trained on.
        features: features of those data.
        split: which splits.
        items: what is to be found.
        settings: how it is searched.
        skip_bad: leave out bad records of a folder.
        device: where to compute.
    """
    run, out = Path(run), Path(out)
    check_system(run)
    if settings.store:
        settings = replace(settings, store=remote.settled(settings.store))
    system: Retrieval = load(run, device)
    config = Run(run).config
    if data is None:
        data, features = config["data"], features or config["features"]
        skip_bad = skip_bad or config["skip_bad"]
    data, features = whole_name(data), Path(features).resolve() if features else None
    opened = open_data(data, features=features, skip_bad=skip_bad)
    records = Records(chosen(opened, split, data), KEPT[items])
    origin = Origin(
        model=identity(system),
        run=str(run.resolve()),
        data=data,
        splits={name: part.fingerprint for name, part in records.splits.items()},
        features=str(features) if features else None,
        skip_bad=skip_bad,
    )
    check_settings(similarity_of(system), settings)
    with writing(out):
        existing = finished(out, records.side, settings, origin)
        if existing:
            return brought_up_to_date(existing, out, system, run)
        index = make_index(system, records, settings, origin, out)
    query = '"a text"' if records.side == "image" else "--image FILE"
    say(f"{len(index)} {items} are in {out}. Next: polymodal search {out} {query}")
    return index


def check_system(run: Path) -> None:
    """Refuse, before any work, a run whose model does not embed images and texts together."""
    name = Run(shipped.find(run)).config["system"]
    able = [one for one, task in systems.packages().items() if task == retrieval.__name__]
    if name not in able:
        raise PolymodalError(
            f"{run} is a run of {name}, which cannot be indexed: it does not embed images and texts "
            f"together. Index a run of {' or '.join(able)}."
        )


def whole_name(data: str) -> str:
    """The same data by a name that is good in every folder: paths are made whole.

    >>> whole_name("scenes,size=64"), whole_name("cub:/a/../b,size=64,splits=/c/../d")
    ('scenes,size=64', 'cub:/b,size=64,splits=/d')
    """
    name, options = parse(data)
    kind, colon, path = name.partition(":")
    if not colon:
        if not (Path(name) / "manifest.json").is_file():
            return data
        kind, path = "", name
    if "splits" in options:
        options["splits"] = str(Path(options["splits"]).resolve())
    return f"{kind}{colon}{Path(path).resolve()}" + "".join(f",{k}={v}" for k, v in options.items())


def chosen(opened: Mapping[str, Dataset], names: Sequence[str], data: str) -> dict[str, Dataset]:
    """The splits that are asked for."""
    if not names:
        raise PolymodalError(f"Name at least one split of {data}: {', '.join(opened)}.")
    for name in names:
        if name not in opened:
            raise unknown(f"split of {data}:", name, opened)
    return {name: opened[name] for name in names}


def finished(out: Path, side: Side, settings: Settings, origin: Origin) -> Index | None:
    """The index that is there already, if it is the one that is asked for.

    Vectors that Milvus has lost are sent again, and parts that a kill has left behind are deleted.
    """
    if not (out / NAME).exists():
        return None
    there = open_index(out)
    asked = {"side": side, "settings": settings, "origin": origin}
    wrong = [name for name, value in asked.items() if getattr(there, name) != value]
    if wrong:
        raise PolymodalError(
            f"{out} holds another index, with another {' and '.join(wrong)}. "
            "Choose another folder, or delete this one."
        )
    for parts in out.glob("parts-*"):
        shutil.rmtree(parts)
    if not isinstance(there.nearest, remote.Remote):
        return there
    with progress_bar("looking for missing vectors", len(there)) as advance:
        remote_index = remote.build_stored(
            there.measure, there.embeddings, there.items, side, settings, advance
        )
    return replace(there, nearest=remote_index)


def make_index(
    system: Retrieval,
    records: Records,
    settings: Settings,
    origin: Origin,
    out: Path,
) -> Index:
    """Embed, build and save."""
    items = records.items()
    # as a list: which item is which depends on the order of the splits
    protocol = [origin.model, records.side, list(origin.splits.items())]
    parts = out / f"parts-{fingerprint(protocol)}"
    with progress_bar(f"embedding {records.side}s", len(items)) as advance:
        embeddings = embed_in_parts(
            parts, len(items), lambda places: records.embed(system, places), advance
        )
    with progress_bar(f"indexing ({settings.kind})", len(items), shown=settings.lifted) as advance:
        index = build(
            embeddings,
            items,
            side=records.side,
            measure=similarity_of(system),
            settings=settings,
            origin=origin,
            advance=advance,
        )
    index = replace(index, calibration=calibrated(index, system, Path(origin.run)))
    save(index, out)
    sweep(out)
    shutil.rmtree(parts)
    return index


def brought_up_to_date(index: Index, out: Path, system: Retrieval, run: Path) -> Index:
    """A finished index as it is, but for a calibration of an earlier version, which is made anew."""
    if index.calibration != EARLIER:
        say(f"{out} is finished already.")
        return index
    index = replace(index, calibration=calibrated(index, system, run))
    save_calibration(out, index.calibration)
    if isinstance(index.calibration, Calibration):
        say(f"{out} was finished already; how sure its answers are has been calibrated again.")
    return index


def calibrated(index: Index, system: Retrieval, run: Path) -> Calibration | str:
    """How sure answers are, from the validation split of the run's own data, or why that is not known."""
    config = Run(run).config
    try:
        opened = open_data(config["data"], features=config["features"], skip_bad=config["skip_bad"])
        val = chosen(opened, ["val"], config["data"])
        return calibrate(
            index,
            *system.embedded(val["val"]),
            split="validation",
            ids=Records(val, index.side).items().ids,
        )
    except PolymodalError as error:
        why = f"the run's validation split could not tell ({str(error).rstrip('.')})"
        say(f"Answers will have no word for how sure they are: {why}.")
        return why
