"""The options of `polymodal reproduce`."""

from dataclasses import dataclass
from pathlib import Path

from polymodal.base.errors import PolymodalError
from polymodal.base.progress import say
from polymodal.studies.reproduction.tasks import Accelerator
from polymodal.studies.study import PAPER, QUICK, SMALL, Study


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of a study."""

    data: tuple[str, ...] = ()
    """One or several datasets, named as in `polymodal train`; by default the study's own."""
    rows: tuple[str, ...] = ()
    """Run only these rows, such as 'basic/FC*' or '*(strong)', and add them to the result file."""
    missing: bool = False
    """Run only the rows that the result file lacks, even if the runs of the others are deleted."""
    regions: Path | None = None
    """Regions of the data from `polymodal regions`, for the studies of grounding."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Seeds to train with; some rows use only the first."""
    scale: str | None = None
    """Which rows to run, by their size; by default the first scale of the study that is for the data."""
    quick: bool = False
    """`--scale quick`: a test in minutes, with small models on a small world."""
    small: bool = False
    """`--scale small`: on your own data, small models that two cores can train in minutes per row."""
    at_scale: bool = False
    """`--scale paper`, where the study has it: the paper's own sizes, learning rates and epochs."""
    folder: Path = Path("runs/reproduce")
    """Folder of the runs."""
    out: Path | None = None
    """Result file; by default in the folder of the runs."""
    accelerator: Accelerator = "auto"
    """Device to train on."""
    processes: int = 1
    """Rows to train in parallel; a large GPU can hold a dozen small models."""
    compile: bool = False
    """Compile the models: slower to start, faster after."""
    chosen: Path | None = None
    """Earlier result file, such as Table 1's, whose chosen settings are used without a new search."""

    def __post_init__(self) -> None:
        if not self.seeds:
            raise PolymodalError("--seeds needs at least one seed, such as --seeds 0.")
        if self.processes < 1:
            raise PolymodalError(f"--processes must be at least 1, not {self.processes}.")
        if bool(self.scale) + self.quick + self.small + self.at_scale > 1:
            raise PolymodalError(
                "--scale, --quick, --small and --at-scale exclude each other: give one of them."
            )

    def scale_name(self, study: Study) -> str | None:
        """The scale that is asked for; none for the study's default."""
        if self.at_scale and PAPER not in study.scales:
            say("This study has no rows of the paper's own size: the default rows are used.")
            return None
        flags = {QUICK: self.quick, SMALL: self.small, PAPER: self.at_scale}
        return next((name for name, given in flags.items() if given), self.scale)
