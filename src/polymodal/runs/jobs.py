"""Whole jobs, from data to a finished run: the place where data, system and trainer meet."""

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch

from polymodal import systems
from polymodal.base.config import to_settings
from polymodal.base.errors import PolymodalError
from polymodal.base.hardware import hardware, on_gpu
from polymodal.base.locks import writing
from polymodal.base.progress import say
from polymodal.base.version import versions
from polymodal.data.batch_order import Examples, MovableExamples
from polymodal.data.features import open_features
from polymodal.data.records import Dataset
from polymodal.data.region_files import open_regions
from polymodal.data.sources import look_at, open_splits, report_skipped
from polymodal.runs import shipped
from polymodal.runs.loading import load
from polymodal.runs.run_folder import Run
from polymodal.training.fitting import fit
from polymodal.training.system import Scores, System
from polymodal.training.training_config import OPERATIONAL, Training


def train(
    name: str,
    model: Any,
    training: Training,
    *,
    data: str,
    run: Path,
    features: Path | None = None,
    regions: Path | None = None,
    init: Path | None = None,
    parts: Mapping[str, Path] | None = None,
    skip_bad: bool = False,
    opening: Callable[..., Mapping[str, Dataset]] | None = None,
    wait: bool = False,
) -> dict[str, Any]:
    """Train a system and leave a run; a run that is finished is left as it is. Gives its metrics.

    A later phase starts from the run of an earlier one, `init`, or takes `parts` of its model from
    runs that were trained for them. `opening` stands for `open_data`, where somebody keeps data open
    for several runs. A run that another process trains is refused, or waited for with `wait`.
    """
    here = Run(Path(run))
    settings = {
        "system": name,
        "data": data,
        "features": features and str(features),
        "init": init and str(init),
        "skip_bad": skip_bad,
        "model": to_settings(model),
        "training": to_settings(training),
    }
    if regions:
        settings["regions"] = str(regions)
    if parts:
        settings["parts"] = {part: str(other) for part, other in parts.items()}
    with writing(here.folder, wait=wait):
        here.begin(settings, OPERATIONAL)
        if here.finished:
            say(f"{run} is finished already; its scores are in {run}/metrics.json.")
            return here.metrics
        opening = opening or partial(open_data, system=name)
        splits = opening(data, features=features, regions=regions, skip_bad=skip_bad)
        learned_from = "trainval" if training.final else "train"
        check_splits(data, splits, learned_from)
        if training.record and not on_gpu(training.accelerator):
            say("--record does nothing here: it needs a GPU, and this training has none.")
        system = prepare(name, model, training, splits[learned_from], here, init, parts)
        system.check({name: split for name, split in splits.items() if name != learned_from})
        curves = fit(
            system,
            examples_on(system, splits[learned_from], training),
            training,
            here.folder,
            validate=lambda: system.validate(splits["val"]),
            keep=lambda: here.keep(system),
            say=say,
        )
        return conclude(here, system, splits, settings, curves)


def check_splits(data: str, splits: Mapping[str, Dataset], learned_from: str) -> None:
    """Refuse data without a split to learn from or one to select on."""
    final = learned_from == "trainval"
    for needed in (learned_from, "val"):
        if needed not in splits:
            raise PolymodalError(
                f"{data} has no split {needed!r}, only {', '.join(splits)}: "
                "training needs one to learn from and one to select on"
                + (", and --final both together." if final else ".")
                + (
                    " Give data that have it, such as birds or cub:PATH, or leave out --final."
                    if needed == "trainval"
                    else ""
                )
            )


def open_data(
    data: str,
    *,
    features: Path | None = None,
    regions: Path | None = None,
    skip_bad: bool = False,
    system: str | None = None,
) -> Mapping[str, Dataset]:
    """The splits of a dataset, joined to their features and regions if there are any; for a system that
    reads captions alone no world is drawn."""
    alone = system is not None and getattr(systems.system_named(system), "CAPTIONS_ALONE", False)
    for what, folder in (("features", features), ("regions", regions)):
        if alone and folder:
            raise PolymodalError(f"{system} reads captions alone, not {what}. Leave out --{what}.")
    splits = (look_at if alone else open_splits)(data, skip_bad=skip_bad)
    report_skipped(splits)
    splits = open_features(features, splits) if features else splits
    return open_regions(regions, splits) if regions else splits


def prepare(
    name: str,
    model: Any,
    training: Training,
    train: Dataset,
    run: Run,
    init: Path | None,
    parts: Mapping[str, Path] | None,
) -> System:
    """A system at its start: seeded weights, then pretrained ones, then those of earlier runs."""
    module = systems.system_named(name)
    learned = {**module.learn(model, train), "train": train.fingerprint}
    run.learn(learned)
    torch.manual_seed(training.seed)
    system: System = module.build(model, learned)
    system.start(train)
    if init:
        other = Run(Path(init))
        system.begin_from(other.weights(), other.learned)
    for part, path in (parts or {}).items():
        system.take(part, Run(Path(path)).weights(), Run(Path(path)).learned)
    return system


def examples_on(system: System, train: Dataset, training: Training) -> Examples:
    """The training examples, on the device where they are asked to be resident."""
    examples = system.examples(train)
    if not training.resident:
        return examples
    if not isinstance(examples, MovableExamples):
        raise PolymodalError("--resident is not for these examples. Leave it out.")
    place = f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if on_gpu(training.accelerator) else "cpu"
    return examples.resident(torch.device(place))


def conclude(
    run: Run,
    system: System,
    splits: Mapping[str, Dataset],
    settings: dict[str, Any],
    curves: list[Scores],
) -> dict[str, Any]:
    """Score the best weights on every held-out split and write the run's metrics and card."""
    if not system.trainer.is_global_zero:
        return {}
    run.restore(system)
    system.to(system.trainer.strategy.root_device)  # from which Lightning takes it after training
    final = settings["training"]["final"]
    kept = "last" if final else "best"
    say(f"Scoring the {kept} weights on every held-out split.")
    metrics: dict[str, Any] = {
        "command": command_line(),
        "scores": evaluated(system, held_out(splits, final)),
        "monitor": system.monitor,
        "selected": curves[-1] if final else best_point(curves, system),
        "protocol": protocol(system, splits, settings),
        "versions": versions(),
        "hardware": hardware(),
        "curves": curves,
    }
    metrics["symptoms"] = system.symptoms(metrics["scores"]["test" if final else "val"])
    run.finish(metrics)
    for symptom in metrics["symptoms"]:
        say(symptom)
    chosen = metrics["selected"]
    score = "" if final else f": {system.monitor} {chosen[system.monitor]:.1f} on val"
    say(
        f"{kept.capitalize()} at step {chosen['step']:.0f}{score}. "
        f"All scores are in {run.folder}/card.md. Next: polymodal evaluate {run.folder}"
    )
    return metrics


def held_out(splits: Mapping[str, Dataset], final: bool) -> dict[str, Dataset]:
    """The splits with nothing in them that was learned from."""
    learned = {"train", "trainval", "val"} if final else {"train", "trainval"}
    return {name: split for name, split in splits.items() if name not in learned}


def evaluated(system: System, splits: Mapping[str, Dataset]) -> dict[str, Scores]:
    """All scores of every split, without compiling for sizes that training did not see."""
    with torch.compiler.set_stance("force_eager"):
        scores = {name: system.evaluate(dataset) for name, dataset in splits.items()}
    return system.joined(scores)


def best_point(curves: list[Scores], system: System) -> Scores:
    """The validation whose weights were kept: the first with the best score."""
    pick = max if system.better == "higher" else min
    points = (point for point in curves if system.monitor in point)
    return pick(points, key=lambda point: point[system.monitor])


def evaluate(
    run: Path,
    split: str | None = None,
    *,
    data: str | None = None,
    features: Path | None = None,
    regions: Path | None = None,
    skip_bad: bool = False,
    device: str = "cpu",
    modalities: str = "all",
    opening: Callable[..., Mapping[str, Dataset]] | None = None,
) -> dict[str, Any]:
    """Score a run, or a shipped model, on a split of its own data, or of other data: by itself on
    `test` where there is one, else on `val`. `modalities` is all for all that it is scored with, or
    names one subset, as flair+t1. `opening` stands for `open_data`, as in `train`."""
    settings = Run(shipped.find(run)).config
    if data is None:
        data, features = settings["data"], features or settings["features"]
        regions = regions or settings.get("regions")
        skip_bad = skip_bad or settings["skip_bad"]
    splits = (opening or partial(open_data, system=settings["system"]))(
        data, features=features, regions=regions, skip_bad=skip_bad
    )
    split = split or ("test" if "test" in splits else "val")
    if split not in splits:
        raise PolymodalError(
            f"{data} has no split {split!r}, only {', '.join(splits)}. Give one of them: --split."
        )
    system = load(run, device)
    own = splits[split]
    all_of_it = modalities == "all"
    scores = system.evaluate(own) if all_of_it else system.evaluate_with(own, modalities)
    return {
        "scores": {split: scores},
        "symptoms": system.symptoms(scores),
        "protocol": protocol(system, {split: splits[split]}, {**settings, "data": data}),
        "versions": versions(),
        "hardware": hardware(),
    }


def protocol(
    system: System, splits: Mapping[str, Dataset], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """All that two figures must share to be compared."""
    first = next(iter(splits.values()))
    return {
        "data": settings["data"],
        "splits": {name: counted(split) for name, split in splits.items()},
        "pictures" if "image" in first.columns else "arrays": first.rule,
        "selection": "none: the last step, of train and val together"
        if settings["training"].get("final")
        else f"{'best' if system.better == 'higher' else 'lowest'} {system.monitor} on val",
        "seed": settings["training"]["seed"],
        **system.protocol(),
    }


def counted(split: Dataset) -> dict[str, Any]:
    """How many images and captions a split has, or items and how many lack a modality, and its hash."""
    columns = split.columns
    counts: dict[str, Any] = {"images" if "image" in columns else "items": len(split)}
    if "captions" in columns:
        counts["captions"] = sum(len(split.captions(i)) for i in range(len(split)))
    missing = {n: int((~c.present).sum()) for n, c in columns.items() if c.present is not None}
    return counts | ({"missing": missing} if missing else {}) | {"hash": split.fingerprint}


def command_line() -> str:
    """The command that is running, as it can be given again."""
    return shlex.join(["polymodal", *sys.argv[1:]])
