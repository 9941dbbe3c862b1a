"""Reproduce a table of the papers: every recipe × seeds, next to the paper's figures."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

HELP = """\
Reproduce a table or figure of the papers; repeat the command to resume.

usage: polymodal reproduce STUDY [--data DATA] [--rows PATTERN ...] [--missing] [--seeds SEED ...]
                                 [--processes N] [--quick] [--small] [--help] ...

studies
{studies}
--rows 'basic/FC*' runs only some rows, --missing those that the result file lacks. --seeds 0 uses
one seed, --processes 12 trains twelve rows in parallel. `polymodal reproduce STUDY --help` lists
every option."""


@dataclass(frozen=True, kw_only=True)
class Reproduce:
    """Options of a study."""

    data: tuple[str, ...] = ()
    """One or several datasets, named as in `polymodal train`; by default the study's own."""
    rows: tuple[str, ...] = ()
    """Run only these rows, such as 'basic/FC*' or '*(strong)', and add them to the result file."""
    missing: bool = False
    """Run only the rows that the result file lacks, even if the runs of the others are deleted."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Seeds to train with; some rows use only the first."""
    quick: bool = False
    """Quick test in minutes: small models on a small world."""
    small: bool = False
    """On your own data: small models that two cores can train in a few minutes per row."""
    at_scale: bool = False
    """The paper's own sizes, learning rates and epochs, for data of the paper's size."""
    folder: Path = Path("runs/reproduce")
    """Folder of the runs."""
    out: Path | None = None
    """Result file; by default in the folder of the runs."""
    accelerator: Literal["auto", "cpu", "gpu"] = "auto"
    """Device to train on."""
    processes: int = 1
    """Rows to train in parallel; a large GPU can hold a dozen small models."""
    compile: bool = False
    """Compile the models: slower to start, faster after."""
    chosen: Path | None = None
    """Earlier result file, such as Table 1's, whose chosen settings are used without a new search."""


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
