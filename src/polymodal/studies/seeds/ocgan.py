"""OC-GAN (003, chapter 6): pictures from layouts, what each part of the model brings, and its baselines."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from polymodal.studies.figures.converging_objects import converging_objects
from polymodal.studies.result_files import PaperRow
from polymodal.studies.study import PAPER, QUICK, SMALL, Measuring, Paper, Recipe, Scale, Study
from polymodal.systems.layout import crops, ocgan, sgsm, spotter
from polymodal.systems.layout.layout_probes import layout_scores
from polymodal.training.training_config import Training

Rows = tuple[Recipe, ...]

SCENES = "scenes,size=64,objects=1-3,train=8000,val=500,test=1000"
QUICK_SCENES = "scenes,size=32,objects=1-3,train=400,val=16,test=16"

DRAWN: Mapping[str, Any] = {"fewest": 1, "least_area": 0.0}
"""Scenes have few and small objects."""
COCO: Mapping[str, Any] = {"fewest": 2, "least_area": 0.01}
"""The rule by which the shared file of COCO was made."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """What all rows of a table share at one scale."""

    layouts: Mapping[str, Any]
    """Which layouts all systems learn from."""
    model: Mapping[str, Any]
    """Settings of the generator and its discriminators."""
    training: Training
    sgsm: Mapping[str, Any]
    sgsm_training: Training
    judge_width: int
    """Maps of the classifier of crops and of the detector."""
    judge_training: Training


NARROW: Mapping[str, Any] = {
    "width": 16,
    "norm_width": 32,
    "mask_width": 16,
    "object_dim": 64,
    "noise": 64,
    "object_noise": 32,
    "patch_width": 24,
    "object_width": 24,
    "lr": 4e-4,
    "ema": 0.995,
}
"""A quarter of the paper's width, with a rate for small batches and few steps."""

ON_TWO_CORES = Size(
    layouts=DRAWN,
    model=NARROW,
    training=Training(max_steps=3000, batch_size=16, val_every=500, precision="bf16", clip=0.0),
    sgsm={"convnet_width": 16, "dim": 128, "hidden": 64, "layers": 3},
    sgsm_training=Training(max_steps=1500, batch_size=32, val_every=300),
    judge_width=16,
    judge_training=Training(max_steps=2000, batch_size=32, val_every=400),
)
FULL = Size(
    layouts=DRAWN,
    model={"lr": 2e-4},
    training=Training(
        max_steps=30_000,
        batch_size=64,
        val_every=3_000,
        precision="bf16",
        clip=0.0,
        resident=True,
        log_every=100,
    ),
    sgsm={},
    sgsm_training=Training(epochs=200, batch_size=64, precision="bf16", resident=True),
    judge_width=32,
    judge_training=Training(epochs=30, batch_size=64, precision="bf16", resident=True),
)
SHORT = Training(max_steps=2, batch_size=4, val_every=2)
TINY = Size(
    layouts=DRAWN,
    model={
        **dict.fromkeys(("width", "patch_width", "object_width", "mask_width"), 4),
        "norm_width": 8,
        "noise": 8,
        "object_noise": 4,
        "object_dim": 8,
        "mask_side": 8,
    },
    training=SHORT,
    sgsm={"convnet_width": 8, "dim": 16, "hidden": 8, "layers": 2},
    sgsm_training=SHORT,
    judge_width=8,
    judge_training=SHORT,
)


# Rows


def matching(size: Size) -> Recipe:
    """The scene-graph similarity module, which is trained first and the same for all rows."""
    model = sgsm.Config(**{**size.layouts, **size.sgsm})
    return Recipe(name="SGSM", system="sgsm", model=model, training=size.sgsm_training)


def judges(size: Size) -> Rows:
    """The classifier of crops and the detector that measure all rows."""
    of_crops = crops.Config(**size.layouts, width=size.judge_width)
    finding = spotter.Config(**size.layouts, width=size.judge_width, stride=2)
    return (
        Recipe(name="crops", system="crops", model=of_crops, training=size.judge_training),
        Recipe(name="spotter", system="spotter", model=finding, training=size.judge_training),
    )


def row(name: str, size: Size, *, alone: bool = False, **settings: Any) -> Recipe:
    """A generator with the similarity module, or without; all its pictures judged alike."""
    return Recipe(
        name=name,
        system="ocgan",
        model=ocgan.Config(**{**size.layouts, **size.model, **settings}),
        training=size.training,
        parts=() if alone else (("sgsm", matching(size)),),
        references=judges(size),
        probe=layout_scores,
    )


def baselines(size: Size) -> Rows:
    """The conditioning of two others in the same frame, without what OC-GAN adds."""
    return (
        row("baseline/lostgan", size, alone=True, conditioning="lostgan", lambda_p=0.0),
        row("baseline/spade", size, alone=True, conditioning="spade", object_discriminator=False),
    )


def compared(size: Size) -> Rows:
    """OC-GAN and its baselines."""
    return (row("full", size), *baselines(size))


def ablation(size: Size) -> Rows:
    """The rows of Table 6.4; those about which a claim is made have all seeds."""
    once = (
        row("single_patch_d", size, patch_discriminators=1),
        row("no_patch_d", size, patch_discriminators=0),
        row("no_object_d_no_sgsm", size, alone=True, object_discriminator=False),
    )
    return (
        row("full", size),
        row("no_object_d", size, object_discriminator=False),
        row("no_boundaries", size, boundaries=False),
        row("no_sgsm", size, alone=True),
        row("no_perceptual", size, lambda_p=0.0),
        *(replace(own, seeds=1) for own in once),
    )


def donuts(size: Size) -> Rows:
    """With boundaries, without them, and the conditioning that first drew donuts."""
    rows = (row("full", size), row("no_boundaries", size, boundaries=False), baselines(size)[0])
    spotting = judges(size)[1:]
    return tuple(replace(own, probe=None, references=spotting) for own in rows)


def scales(rows: Any) -> dict[str, Scale]:
    """Rows for scenes on two cores, for photos there, for an accelerator, and for a test of minutes."""
    photos = replace(ON_TWO_CORES, layouts=COCO)
    return {
        "drawn": Scale(rows=rows(ON_TWO_CORES), data=(SCENES,), only="drawn"),
        SMALL: Scale(rows=rows(photos), only="files"),
        PAPER: Scale(rows=rows(FULL), data=(SCENES,), only="drawn"),
        "photos": Scale(rows=rows(replace(FULL, layouts=COCO)), only="files"),
        QUICK: Scale(rows=rows(TINY), data=(QUICK_SCENES,), only="drawn"),
    }


# The paper's figures, on COCO-Stuff at 64×64 with flips unless said


def of_paper(name: str, **metrics: float) -> PaperRow:
    """A row of the paper."""
    return PaperRow(name=name, metrics=metrics)


TABLE1 = (
    of_paper("full", **{"is": 10.8}, fid=29.57, ca=60.39),
    of_paper("baseline/lostgan", **{"is": 9.8}, fid=34.31, ca=37.15),
    of_paper("baseline/spade", **{"is": 8.5}, fid=43.31, ca=31.61),
)
SCENE_FID = (
    of_paper("full", scene_fid=16.76, fid=36.31),
    of_paper("baseline/lostgan", scene_fid=20.03, fid=29.65),
    of_paper("baseline/spade", scene_fid=23.44, fid=40.04),
)
"""At 128×128; SPADE without flips."""
ABLATION = (
    of_paper("full", fid=29.57, ca=60.27),
    of_paper("single_patch_d", fid=30.54, ca=59.86),
    of_paper("no_patch_d", fid=33.85, ca=62.48),
    of_paper("no_object_d", fid=31.62, ca=48.03),
    of_paper("no_boundaries", fid=30.12, ca=59.54),
    of_paper("no_sgsm", fid=34.32, ca=52.57),
    of_paper("no_object_d_no_sgsm", fid=33.15, ca=41.50),
    of_paper("no_perceptual", fid=31.14, ca=57.22),
)

SCORES = (
    *("fid", "scene_fid", "crops_fid", "ca", "real_ca"),
    *("fidelity", "real_fidelity", "spurious", "real_spurious"),
)

STUDIES = {
    "table1": Study(
        about="pictures from layouts, beside other ways to condition a generator (003, Table 6.1)",
        scales=scales(compared),
        metrics=("is", *SCORES, "diversity"),
        paper=Paper(rows=TABLE1, data="coco:"),
    ),
    "scenefid": Study(
        about="the Fréchet distance of objects beside that of whole pictures (003, Table 6.2)",
        scales=scales(compared),
        metrics=("scene_fid", "crops_fid", "fid", "kid", "ca", "fidelity"),
        paper=Paper(rows=SCENE_FID, data="coco:"),
    ),
    "ablation": Study(
        about="what each part of OC-GAN brings (003, Table 6.4)",
        scales=scales(ablation),
        metrics=SCORES,
        paper=Paper(rows=ABLATION, data="coco:"),
    ),
    "donuts": Study(
        about="two objects of one class that come together: do they stay two (003, Fig. 6.1)",
        scales=scales(donuts),
        metrics=("apart", "apart_touching", *(f"apart_{step}" for step in range(1, 8))),
        measuring=Measuring(probe=converging_objects, draws=True),
    ),
}
