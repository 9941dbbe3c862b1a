"""CMIM (003, chapter 8): segmentation and findings, trained with all modalities, tested with some."""

from collections.abc import Callable
from dataclasses import replace

from polymodal.data.scan_columns import subset_name, subsets
from polymodal.studies.figures.subset_grid import subset_grid
from polymodal.studies.result_files import PaperRow
from polymodal.studies.seeds.cmim.cmim_recipes import (
    DRAWN_FILMS,
    DRAWN_SLICES,
    ENHANCING,
    FULL_FILMS,
    FULL_SLICES,
    MODALITIES,
    QUICK_FILMS,
    QUICK_SLICES,
    SMALL_FILMS,
    SMALL_SLICES,
    Rows,
    ablation,
    compared,
    table1,
    table2,
)
from polymodal.studies.study import PAPER, QUICK, SMALL, Measuring, Paper, Scale, Study

PHANTOMS = "phantoms,size=64,train=800,val=160,test=240"
XRAYS = "xrays,size=64,train=2000,val=400,test=800"
QUICK_PHANTOMS = "phantoms,size=32,train=12,val=4,test=4"
QUICK_XRAYS = "xrays,size=32,train=16,val=8,test=8"


def scales(rows: Callable[..., Rows], *kinds: str) -> dict[str, Scale]:
    """The rows at every scale, for slices, films or both."""
    sizes = {
        "slices": {
            "drawn": DRAWN_SLICES,
            SMALL: SMALL_SLICES,
            PAPER: FULL_SLICES,
            QUICK: QUICK_SLICES,
        },
        "films": {"drawn": DRAWN_FILMS, SMALL: SMALL_FILMS, PAPER: FULL_FILMS, QUICK: QUICK_FILMS},
    }
    worlds = {
        "slices": {"drawn": PHANTOMS, QUICK: QUICK_PHANTOMS},
        "films": {"drawn": XRAYS, QUICK: QUICK_XRAYS},
    }

    def scale(name: str) -> Scale:
        return Scale(
            rows=rows(*(sizes[kind][name] for kind in kinds)),
            data=tuple(worlds[kind][name] for kind in kinds if name in worlds[kind]),
            only="drawn" if name in ("drawn", QUICK) else "files",
        )

    return {name: scale(name) for name in ("drawn", SMALL, PAPER, QUICK)}


def enhancing(rows: Callable[..., Rows]) -> Scale:
    """Rows of full size that find enhancing tumour alone, for scans whose masks have several classes."""
    size = replace(FULL_SLICES, model={**FULL_SLICES.model, "target": ENHANCING})
    return Scale(rows=rows(size), only="files")


def of_table2(name: str, *dices: float) -> PaperRow:
    """A row of Table 8.2: Dice with FLAIR, T1, T1c, T2 alone."""
    metrics = {f"dice_{m}": dice for m, dice in zip(MODALITIES, dices, strict=True)}
    return PaperRow(name=name, metrics=metrics)


TABLE2 = (
    of_table2("CMIM", 23.37, 14.15, 49.00, 29.56),
    of_table2("HeMIS", 5.57, 4.67, 49.93, 20.31),
    of_table2("mean", 6.25, 6.25, 30.02, 6.25),
    of_table2("MLP", 15.90, 10.78, 32.92, 18.62),
)
"""BRATS-2015, enhancing tumour, in percent."""

TABLE1 = (
    PaperRow(name="image only", metrics={"auc": 78.5}),
    PaperRow(name="TieNet", metrics={"auc": 74.1}),
    PaperRow(name="CMIM", metrics={"auc": 79.3}),
)
"""Open-I, in percent; the first is a ResNet-50."""

ALONE = tuple(f"dice_{modality}" for modality in MODALITIES)

STUDIES = {
    "table2": Study(
        about="segmentation with one modality after training with all (003, Table 8.2)",
        scales={**scales(table2, "slices"), "enhancing": enhancing(table2)},
        metrics=(*ALONE, "dice_alone", "dice_all"),
        partly=True,
        paper=Paper(rows=TABLE2, data="brats:"),
    ),
    "subsets": Study(
        about="segmentation with every subset of the modalities (beyond 003, ch. 8)",
        scales={**scales(compared, "slices"), "enhancing": enhancing(compared)},
        metrics=tuple(f"dice_{subset_name(own)}" for own in subsets(MODALITIES)),
        partly=True,
        measuring=Measuring(conclusion=subset_grid),
    ),
    "table1": Study(
        about="findings from X-rays after training with their reports (003, Table 8.1)",
        scales=scales(table1, "films"),
        metrics=("auc", "auc_low", "auc_high", "auc_image"),
        paper=Paper(rows=TABLE1, data="open-i:"),
    ),
    "ablation": Study(
        about="which bounds help segmentation, and which findings (003, §8.3.3)",
        scales=scales(ablation, "slices", "films"),
        metrics=("dice_alone", "dice_all", "auc", "auc_low", "auc_high"),
        partly=True,
    ),
}
