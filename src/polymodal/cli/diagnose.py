"""Measure the locality and compositionality of image encoders: runs, or any backbone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

from polymodal.cli import Device, SkipBad, parse_options

if TYPE_CHECKING:
    from torch import nn

    from polymodal.base.tables import Table
    from polymodal.diagnosis.diagnosing import Diagnosis
    from polymodal.diagnosis.examination import Settings

Measure = Literal["zeroshot", "tre", "parts", "heatmaps", "ratio"]


@dataclass(frozen=True, kw_only=True)
class Diagnose:
    """Measure the locality and compositionality of image encoders."""

    encoders: Annotated[tuple[str, ...], Positional, arg(metavar="RUN|PATH ...")]
    """Run directories, shipped models, or folders of transformers models."""
    data: str | None = None
    """Data to measure on, named as in `polymodal train`; by default those of the run."""
    out: Path | None = None
    """Folder for diagnosis.json, report.html and heatmaps.png; by default diagnosis/NAME. With
    several encoders: a folder with one such folder each and comparison.html; by default
    diagnosis."""
    measures: tuple[Measure, ...] = ()
    """Only these measures; by default all that the data allow."""
    fit: str = "train"
    """Split that prototypes and probes are fitted on."""
    test: str = "test"
    """Split that is measured."""
    images: int = 6000
    """Maximum number of images of each split. TRE ratios fall with fewer images: compare only equal
    counts."""
    pairs: int = 20_000
    """Number of image pairs for the parts ratio."""
    steps: int = 1000
    """Steps of the fit of heatmaps and of part probes."""
    untrained: bool = False
    """Measure also each run's architecture with random weights; the difference is due to training."""
    skip_bad: SkipBad = False
    device: Device = "cpu"


def main(arguments: list[str]) -> None:
    report(parse_options(Diagnose, "diagnose", arguments))


def report(options: Diagnose) -> None:
    """Diagnose each encoder, print, write."""
    from polymodal.base.errors import PolymodalError
    from polymodal.base.files import check_folder
    from polymodal.base.printing import tell
    from polymodal.base.progress import say
    from polymodal.diagnosis.comparison import Comparison
    from polymodal.diagnosis.encoder_opening import check_encoder
    from polymodal.runs.jobs import open_data
    from polymodal.views.diagnosis_report import diagnose, write_compared

    encoders = options.encoders
    if not encoders:
        raise PolymodalError("Name a run, or the folder of a transformers model, to diagnose.")
    for path in encoders:
        check_encoder(path)
    chosen = subjects(options)
    data = options.data or common_data(encoders)
    together = options.out or Path("diagnosis")
    folders = {
        name: options.out if options.out and len(chosen) == 1 else together / name
        for name in chosen
    }
    for folder in folders.values():  # before anything is measured in vain
        check_folder(folder)
    splits = open_data(data, skip_bad=options.skip_bad)
    diagnoses = []
    for name, encoder in chosen.items():
        title = encoder if isinstance(encoder, str) else name
        say(f"{title} on {data}")
        one = diagnose(
            encoder,
            splits,
            measures=options.measures or None,
            how=settings(options),
            name=name,
            device=options.device,
        )
        one = replace(one, protocol={"encoder": title, "data": data, **one.protocol})
        one.write(folders[name])
        for measure, why in one.skipped.items():
            say(f"{measure} was not measured: {why}.")
        for caution in one.cautions:
            say(f"{name}: {caution}.")
        say(f"Wrote {folders[name]}/report.html.")
        diagnoses.append(one)
    if len(diagnoses) > 1:
        write_compared(Comparison(diagnoses), together)
        say(f"Wrote {together}/comparison.html.")
    # a line of its own: as a table's title it would be broken in mid-word
    tell(", ".join(filter(None, [f"Measured on {data}", diagnoses[0].cut])))
    table(diagnoses).print()


def subjects(options: Diagnose) -> "dict[str, str | nn.Module]":
    """All encoders by name; with --untrained, each run is followed by its untrained architecture."""
    from polymodal.base.errors import PolymodalError
    from polymodal.diagnosis.encoder_opening import is_run, untrained

    if options.untrained and not any(map(is_run, options.encoders)):
        raise PolymodalError(
            f"--untrained builds the architecture of a run anew; found none among "
            f"{', '.join(options.encoders)}. Name a run too, or leave it out."
        )
    subjects: dict[str, str | nn.Module] = {}
    for encoder, name in zip(options.encoders, short_names(options.encoders), strict=True):
        subjects[name] = encoder
        if options.untrained and is_run(encoder):
            subjects[f"{name}, untrained"] = untrained(encoder, options.device)
    return subjects


def table(diagnoses: "Sequence[Diagnosis]") -> "Table":
    """Metrics down, encoders across."""
    from polymodal.base.tables import Table

    names = dict.fromkeys(name for one in diagnoses for name in one.metrics)
    rows = [
        [name, *(f"{one.metrics[name]:.3g}" if name in one.metrics else "–" for one in diagnoses)]
        for name in names
    ]
    return Table(header=["metric", *(one.name for one in diagnoses)], rows=rows)


def settings(options: Diagnose) -> "Settings":
    """How each measure is taken."""
    from polymodal.diagnosis.examination import Settings
    from polymodal.diagnosis.locality import Probing
    from polymodal.diagnosis.parts_ratio import Relating
    from polymodal.diagnosis.pointwise import Mining

    return Settings(
        fit=options.fit,
        test=options.test,
        images=options.images,
        parts=Probing(steps=options.steps),
        heatmaps=Mining(steps=options.steps),
        ratio=Relating(pairs=options.pairs),
    )


def common_data(encoders: Sequence[str]) -> str:
    """The data of all runs, where the user names none."""
    from polymodal.base.errors import PolymodalError
    from polymodal.diagnosis.encoder_opening import own_data

    names = sorted({data for encoder in encoders if (data := own_data(encoder))})
    if len(names) != 1:
        reason = f"the runs have {' and '.join(names)}" if names else "no run is named that has any"
        raise PolymodalError(f"Say with --data what to measure on: {reason}.")
    return names[0]


def short_names(encoders: Sequence[str]) -> list[str]:
    """The last part of each path, with a number where two are alike.

    >>> short_names(["runs/a", "other/a", "runs/b"])
    ['a', 'a-2', 'b']
    """
    names: list[str] = []
    for encoder in encoders:
        stem = Path(encoder).name or "encoder"
        name, again = stem, 2
        while name in names:
            name, again = f"{stem}-{again}", again + 1
        names.append(name)
    return names
