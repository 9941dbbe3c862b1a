"""Make a table of the seed documents again: every recipe × seeds, the paper's figures beside ours."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

HELP = """\
Make a table of the seed documents again; killed, the same command goes on.

usage: polymodal reproduce STUDY [--data DATA] [--rows PATTERN ...] [--missing] [--seeds SEED ...]
                                 [--processes N] [--quick] [--small] [--help] ...

studies
{studies}
--rows 'basic/FC*' makes some rows alone, --missing those that the result file lacks, --seeds 0 trains
with one seed, --processes 12 trains so many rows at a time. `polymodal reproduce STUDY --help` lists
every option."""


@dataclass(frozen=True, kw_only=True)
class Reproduce:
    """How to make it."""

    data: tuple[str, ...] = ()
    """The data, named as in `polymodal train`: one or several, in place of the study's own."""
    rows: tuple[str, ...] = ()
    """Make these rows alone, such as 'basic/FC*' or '*(strong)', beside those in the result file."""
    missing: bool = False
    """Make only what the result file does not have, though the runs of the others be gone."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Which seeds to train with; some rows take the first alone."""
    quick: bool = False
    """Prove the path in minutes: small models on a small world."""
    small: bool = False
    """On data of your own, small models that two cores can train in some minutes a row."""
    at_scale: bool = False
    """The paper's own sizes, rates and epochs, for as much data as it had."""
    folder: Path = Path("runs/reproduce")
    """Where the runs go."""
    out: Path | None = None
    """The result file; by default beside the runs."""
    accelerator: Literal["auto", "cpu", "gpu"] = "auto"
    """What to train on."""
    processes: int = 1
    """Rows to train at a time; a large GPU holds a dozen small models at once."""
    compile: bool = False
    """Compile what is trained: slower to start, faster after."""
    chosen: Path | None = None
    """An earlier result file, such as Table 1's: take the settings that it chose, try none again."""


def main(arguments: list[str]) -> None:
    import tyro

    from polymodal.cli import listing
    from polymodal.studies import study as studies
    from polymodal.studies.reproduction import reproduce

    if not arguments or arguments[0] in ("-h", "--help"):
        print(HELP.format(studies=listing({s: studies.named(s).about for s in studies.names()})))
        return
    options = tyro.cli(
        Reproduce,
        args=arguments[1:],
        prog=f"polymodal reproduce {arguments[0]}",
        description=studies.named(arguments[0]).about,
    )
    reproduce(arguments[0], **vars(options))
