"""How long `polymodal segment` takes for a volume of BraTS's size, from its files to its labels.

    OMP_NUM_THREADS=2 python benchmarks/segmenting.py [--out results.json]
    python benchmarks/segmenting.py --grid 12 16 16 --patch 8 --width 8 --levels 2

A drawn head in four sequences, made as large as is asked for, is written as NIfTI; a CMIM that is built
for patches, with weights at random (which take as long as learned ones), is kept as a run; then the
command is called as people call it, and its seconds are counted once its modules are imported. Beside
them: seconds of the processor, which other programs on the machine lengthen less than those of the clock,
and how many programs wanted to run (the load of the last minute).
"""

import argparse
import os
import shlex
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import interpolate

from polymodal.base import files
from polymodal.base.hardware import hardware
from polymodal.base.version import versions
from polymodal.cli import segment
from polymodal.data.drawn import phantoms
from polymodal.data.formats.volumes import write_volume
from polymodal.runs import jobs
from polymodal.systems.medical import cmim
from polymodal.training.training_config import Training

TARGET = 60.0


def write_scans(folder: Path, head: Any, grid: list[int]) -> list[str]:
    """The four sequences of a head as volumes of a grid; the flags that name them."""
    flags: list[str] = []
    for name in ("t1", "t1c", "t2", "flair"):
        scan = torch.from_numpy(head[name].astype(np.float32))[None]
        large = interpolate(scan, grid, mode="trilinear", align_corners=False)[0, 0]
        path = folder / f"{name}.nii.gz"
        write_volume(path, large.numpy().astype(np.int16), np.eye(4))
        flags += [f"--{name}", str(path)]
    return flags


def kept_run(folder: Path, splits: dict[str, Any], options: argparse.Namespace) -> Path:
    """A run of one step, of the settings to be timed."""
    config = cmim.Config(
        patch=options.patch, width=options.width, levels=options.levels, critic_hidden=8
    )
    training = Training(accelerator="cpu", max_steps=1, batch_size=2)
    run = folder / "run"
    jobs.train(
        "cmim", config, training, data="phantoms-3d", run=run, opening=lambda *_, **__: splits
    )
    return run


def timed(arguments: list[str]) -> dict[str, float]:
    """Seconds of the clock and of the processor, and the load, of one call."""
    load = os.getloadavg()[0]
    start, worked = time.perf_counter(), time.process_time()
    segment.main(arguments)
    return {
        "seconds": time.perf_counter() - start,
        "processor_seconds": time.process_time() - worked,
        "load": load,
    }


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """The figures of each call and their medians."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        world = phantoms.named("phantoms-3d", size=options.drawn, train=2, val=2, test=2)
        splits = world.splits()
        flags = write_scans(folder, splits["train"][0], options.grid)
        run = kept_run(folder, splits, options)
        out = ["--out", str(folder / "found.nii.gz"), "--overlap", str(options.overlap)]
        out += ["--precision", options.precision]
        calls = [timed([str(run), *flags, *out]) for _ in range(options.rounds)]
    middle = {key: statistics.median(call[key] for call in calls) for key in calls[0]}
    return {"rows": [{"name": "segment", "metrics": middle}], "calls": calls, "target": TARGET}


def main() -> None:
    """Measure, print, write."""
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("--grid", type=int, nargs=3, default=[155, 240, 240])
    flags.add_argument("--drawn", type=int, default=64, help="side of the head that is drawn")
    flags.add_argument("--patch", type=int, default=64)
    flags.add_argument("--width", type=int, default=8)
    flags.add_argument("--levels", type=int, default=4)
    flags.add_argument("--overlap", type=float, default=0.25)
    flags.add_argument("--precision", choices=("32", "bf16"), default="32")
    flags.add_argument("--rounds", type=int, default=1)
    flags.add_argument("--out", type=Path)
    options = flags.parse_args()
    found = measured(options)
    told = found["rows"][0]["metrics"]
    print(
        f"{'×'.join(map(str, options.grid))}, four sequences, {torch.get_num_threads()} threads: "
        f"{told['seconds']:.1f} s (target ≤ {TARGET:g}), {told['processor_seconds']:.1f} s of the "
        f"processor, at a load of {told['load']:.1f}"
    )
    if options.out:
        protocol = {name: value for name, value in vars(options).items() if name != "out"}
        protocol["threads"] = torch.get_num_threads()
        beside = {"study": "segmenting", "command": shlex.join(["python", *sys.argv])}
        beside |= {"hardware": hardware(), "versions": versions(), "protocol": protocol}
        files.write_json(options.out, beside | found)


if __name__ == "__main__":
    main()
