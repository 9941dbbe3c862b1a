"""The command line: one module a verb, each with a `main(arguments)`."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeVar

from typing_extensions import Doc

Options = TypeVar("Options")

# flags that several verbs have
Device = Annotated[str, Doc("Device to compute on, for instance cuda.")]
SkipBad = Annotated[bool, Doc("Skip bad records of a folder and list them, instead of stopping.")]
OtherData = Annotated[
    str | None, Doc("Other data than the run's own, named as in `polymodal train`.")
]
TheirFeatures = Annotated[Path | None, Doc("Features of these data.")]
TheirRegions = Annotated[Path | None, Doc("Regions of these data.")]

INTRODUCTION = """\
Polymodal trains models of images and text, and reports how certain they are.

usage: polymodal VERB [--help] ...

"""

EXAMPLES = """
First steps
  polymodal demo                                     train a model in minutes, with a report
  polymodal data show scenes --out scenes.png        look at a synthetic dataset
  polymodal train vse --data scenes,size=48,train=1000,val=200,test=200 --negatives sum --lr 1e-3 \\
      --embed-dim 128 --hidden 128 --convnet-width 16 --max-steps 500 --run runs/a
                                                     train; repeat the command to resume
  polymodal evaluate runs/a                          compute the scores of a run
  polymodal index runs/a --out indexes/a             embed its test images for search
  polymodal search indexes/a "a red cube"            search them by text, with a confidence
  polymodal train vse --data folder:PHOTOS --run runs/b       train on your own images and captions
  polymodal generate runs/v --text "large red metal cube left small blue rubber sphere"
                                                     images from text, by a VLVAE
  polymodal recognise cmdim-birds bird.png --unseen  recognise classes without training images
  polymodal diagnose runs/c --data birds,size=64     measure locality and compositionality

`polymodal VERB --help` explains a verb.
"""

RESUMED = ("data", "demo", "features", "index", "regions", "reproduce", "train")
"""Verbs that go on where they were stopped."""

PLACES = "Check that this place is there, and that you may read and write it, or name another."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb; a user's mistake becomes one plain message and exit status 1."""
    from polymodal.base import catalogue
    from polymodal.base.errors import PolymodalError, unknown
    from polymodal.base.printing import complain, harmless, tell

    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # idle threads must not spin on a busy core
    given = list(sys.argv[1:] if arguments is None else arguments)
    verbs = catalogue.names(__path__)
    try:
        if not given or given[0] in ("-h", "--help", "help"):
            tell(INTRODUCTION + listing(catalogue.summaries(__path__)) + EXAMPLES)
            return 0
        if given[0] in ("-V", "--version"):
            from polymodal.base.version import __version__

            tell(f"polymodal {__version__}")
            return 0
        if given[0] not in verbs:
            raise unknown("verb", given[0], verbs)
        with harmless(given):
            return run(given[0], given[1:])
    except PolymodalError as error:
        complain(f"polymodal: {error}")
        return 1
    except BrokenPipeError:
        # whoever read our output has seen enough; keep Python from complaining when it flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        from polymodal.base.files import disk_is_full

        if not disk_is_full(error):
            complain(f"polymodal: {error}. {PLACES}")
            return 1
        complain(
            f"polymodal: the disk is full ({error}). Free some space and give the same command "
            "again; nothing finished is lost."
        )
        return 1
    except KeyboardInterrupt:
        again = " The same command goes on from what was kept." if given[0] in RESUMED else ""
        complain(f"\npolymodal: stopped.{again}")
        return 130


def run(verb: str, arguments: list[str]) -> int:
    """Import a verb's module and run it."""
    import importlib

    importlib.import_module(f"{__name__}.{verb}").main(arguments)
    return 0


def listing(summaries: dict[str, str]) -> str:
    """Names and what they mean, in two columns.

    >>> print(listing({"demo": "Try it.", "train": "Train."}), end="")
      demo   Try it.
      train  Train.
    """
    wide = max(map(len, summaries))
    return "".join(f"  {name:{wide}}  {text}\n" for name, text in summaries.items())


def parse_options(
    kind: type[Options], verb: str, arguments: list[str], description: str | None = None
) -> Options:
    """The options of a verb; `kind` is a dataclass, whose fields are its flags."""
    import tyro

    return tyro.cli(
        kind, args=arguments, prog=f"polymodal {verb}", description=description or kind.__doc__
    )
