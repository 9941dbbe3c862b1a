"""Train a system on a dataset and write a run directory; repeat the command to resume."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from polymodal import systems
from polymodal.base.errors import unknown
from polymodal.cli import SkipBad, listing

HELP = """\
Train a system on a dataset and write a run directory.

usage: polymodal train SYSTEM --data DATA --run DIR [--help] ...

systems
{systems}
data
  scenes | two-objects | one-object          a synthetic dataset, rendered on first use;
                                             add ,size=64,train=2000,val=200,test=200,seed=1
  birds                                      rendered birds: classes, attributes, parts; zero-shot
  folder:PATH                                your images and captions; add ,size=128
  text:PATH                                  a text file, one sentence per line: for mlm
  cub:PATH | awa2:PATH | sun:PATH            a zero-shot dataset in its original files; add its splits,
                                             ,splits=xlsa17/CUB, and optionally ,size=128,fold=1
  flickr30k:PATH,images=PATH                 Flickr30K Entities in its original files, and its photos;
                                             add ,split=flickr8k,size=256
  coco:PATH                                  COCO's instances, with captions where there are some
  DIR                                        a world rendered by `polymodal data draw`

`polymodal train SYSTEM --help` lists every setting. To resume a run that was killed, repeat the
command. The final weights are those of an uninterrupted run.
"""


@dataclass(frozen=True, kw_only=True)
class Where:
    """Data and run directory."""

    data: str
    """scenes, two-objects, one-object, birds, phantoms, phantoms-3d, xrays, folder:PATH, text:PATH,
    cub:PATH, flickr30k:PATH, coco:PATH, lgg:PATH, slices:PATH, brats:PATH, open-i:PATH
    or the folder of a rendered world, followed by ,name=value …"""
    run: Path
    """Run directory to create or resume."""
    features: Path | None = None
    """Image features from `polymodal features`, used instead of the images."""
    regions: Path | None = None
    """Regions from `polymodal regions`, for grounding."""
    init: Path | None = None
    """Run to start from (for the second phase): its weights, and its model settings unless given."""
    parts: tuple[str, ...] = ()
    """Parts of the model that other runs have trained, each as PART=RUN; they stay frozen."""
    skip_bad: SkipBad = False


def main(arguments: list[str]) -> None:
    from polymodal.base.files import check_folder
    from polymodal.base.printing import tell

    if not arguments or arguments[0] in ("-h", "--help"):
        tell(HELP.format(systems=listing(systems.summaries())))
        return
    name, *rest = arguments
    if name not in systems.names():
        raise unknown("system", name, systems.names())
    where, model, training = parse(name, rest)
    check_folder(where.run)
    from polymodal.runs.jobs import train

    train(name, model, training, **vars(where) | {"parts": runs_of(where.parts)})


def runs_of(parts: Sequence[str]) -> dict[str, Path]:
    """The run of each part.

    >>> runs_of(["judge=runs/a=b"])
    {'judge': PosixPath('runs/a=b')}
    """
    from polymodal.base.errors import PolymodalError

    by_part = {}
    for given in parts:
        part, equals, run = given.partition("=")
        if not (part and equals and run):
            raise PolymodalError(
                f"--parts takes PART=RUN, such as judge=runs/judge, not {given!r}."
            )
        by_part[part] = Path(run)
    return by_part


def parse(name: str, arguments: list[str]) -> tuple[Where, Any, Any]:
    """Flags over the settings of --config over those of the run of --init over defaults."""
    import tyro

    from polymodal.base.config import as_stored
    from polymodal.runs.run_settings import read_settings
    from polymodal.training.training_config import Training

    module = systems.system_named(name)
    file, arguments = taken("--config", "the name of a YAML file", arguments)
    settings = {**read_settings(Path(file), also=("run",)), "": file} if file else {}
    init = taken("--init", "a run directory", arguments)[0] or settings.get("init")
    model = settings.get("model") or {}
    if init:
        settings["model"] = model_of(Path(init), name, module.Config) | as_stored(
            module.Config, model
        )
    flat: Any = tyro.conf.arg(name="")
    command: Any = dataclasses.make_dataclass(
        "Command",
        [
            ("where", Annotated[Where, flat]),
            ("model", Annotated[module.Config, flat]),
            ("training", Annotated[Training, flat]),
        ],
        kw_only=True,
    )
    parsed = tyro.cli(
        command,
        args=by_new_names(module.Config, arguments),
        prog=f"polymodal train {name}",
        description=module.__doc__ + "\n--config FILE.yaml gives settings; flags override them.",
        default=defaults(command, module.Config, Training, settings),
    )
    return parsed.where, parsed.model, parsed.training


def by_new_names(kind: Any, arguments: list[str]) -> list[str]:
    """Arguments in which flags of earlier releases have their new names."""
    from polymodal.base.config import stored_names

    flags = {
        f"{sign}{stored}".replace("_", "-"): f"{sign}{name}".replace("_", "-")
        for name, stored in stored_names(kind).items()
        for sign in ("--", "--no-")
    }
    parts = [argument.partition("=") for argument in arguments]
    return [flags.get(flag.replace("_", "-"), flag) + rest + value for flag, rest, value in parts]


def taken(flag: str, what: str, arguments: list[str]) -> tuple[str | None, list[str]]:
    """What a flag is given, if it is there, and the other arguments.

    >>> taken("--init", "a run directory", ["--lr", "1", "--init=runs/a"])
    ('runs/a', ['--lr', '1'])
    """
    from polymodal.base.errors import PolymodalError

    for place, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name == flag and equals:
            return value, arguments[:place] + arguments[place + 1 :]
        if name == flag:
            if place + 1 == len(arguments):
                raise PolymodalError(f"{flag} needs {what}.")
            return arguments[place + 1], arguments[:place] + arguments[place + 2 :]
    return None, arguments


def model_of(init: Path, name: str, kind: Any) -> dict[str, Any]:
    """The model settings of a run to start from; where it learned from features, with their encoder."""
    from polymodal.base.config import from_settings, to_settings
    from polymodal.base.errors import PolymodalError
    from polymodal.runs.run_folder import Run

    run = Run(init)
    if run.config["system"] != name:
        raise PolymodalError(
            f"--init names a run of {run.config['system']}, but this run trains {name}: "
            "start from a run of the same system."
        )
    settings = to_settings(from_settings(kind, run.config["model"], f"{init}/config.yaml"))
    made_by = run.learned.get("image_encoder", {}).get("made_by")
    return settings | ({"image_encoder": made_by} if made_by else {})


def defaults(command: Any, model: Any, training: Any, settings: dict[str, Any]) -> Any:
    """The command's default values: those of a settings file, laid out as a run's config.yaml."""
    import tyro

    from polymodal.base.config import from_settings

    settings = dict(settings)
    path = str(settings.pop("", ""))
    settings.pop("system", None)
    parts = {
        "model": from_settings(model, settings.pop("model", {}), path),
        "training": from_settings(training, settings.pop("training", {}), path),
    }
    paths = {
        k: Path(v) for k, v in settings.items() if v and k in ("run", "features", "regions", "init")
    }
    if isinstance(settings.get("parts"), dict):  # as a run's config.yaml has them
        settings["parts"] = tuple(f"{part}={run}" for part, run in settings["parts"].items())
    where = {"data": tyro.MISSING, "run": tyro.MISSING} | settings | paths
    return command(where=Where(**where), **parts)
