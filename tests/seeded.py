"""Seeded trainings of one system of each kind, and what their weights are known by.

`python seeded.py` writes seeded.json anew: only where a change of the weights is meant.
"""

import hashlib
import json
import sys
import tempfile
from pathlib import Path

import torch

from polymodal import systems
from polymodal.base.hardware import processor
from polymodal.runs import jobs
from polymodal.runs.run_folder import Run
from polymodal.training.training_config import Training
from toys import write_squares

KNOWN = Path(__file__).with_suffix(".json")

TOWERS = {
    "embed_dim": 16,
    "hidden": 16,
    "word_dim": 8,
    "convnet_width": 8,
    "crop": 0.8,
    "flip": True,
}
FEATURES = {"dim": 32, "slim": 8, "fit_steps": 5}
BIRDS = "birds,size=64,train=70,val=20,test=90"
RUNS = {
    "vse": ("folder:{squares},size=32", TOWERS),
    "gaussian": ("folder:{squares},size=32", TOWERS),
    "vlvae": (
        "folder:{squares},size=16",
        {"latent": 4, "code": 16, "width": 4, "downsampling": 8, "flow_hidden": 16, "transforms": 2,
         "flow_samples": 2, "flow_share": 0.5},
    ),
    "fc": (BIRDS, FEATURES),
    "cmdim": (BIRDS, FEATURES | {"critic_hidden": 16, "local": "attributes"}),
}  # fmt: skip
"""The data and the model of each."""


def trained(system: str, squares: Path, run: Path) -> dict[str, torch.Tensor]:
    """The weights after six steps on one thread."""
    data, model = RUNS[system]
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        jobs.train(
            system,
            systems.system_named(system).Config(**model),
            Training(max_steps=6, batch_size=8, accelerator="cpu", log_every=1),
            data=data.format(squares=squares),
            run=run,
        )
    finally:
        torch.set_num_threads(before)
    return Run(run).weights()


def digest(weights: dict[str, torch.Tensor]) -> str:
    """A hash of every bit."""
    found = hashlib.sha256()
    for name, value in sorted(weights.items()):
        found.update(name.encode())
        found.update(value.contiguous().numpy().tobytes())
    return found.hexdigest()[:16]


def norms(weights: dict[str, torch.Tensor]) -> dict[str, float]:
    """The size of every part, which is nearly the same on all machines."""
    return {name: round(value.double().norm().item(), 5) for name, value in sorted(weights.items())}


def machine() -> str:
    """What arithmetic is the same on, bit for bit: libraries choose their kernels by what a processor can."""
    told = Path("/proc/cpuinfo")
    lines = told.read_text().splitlines() if told.exists() else []
    able = {line for line in lines if line.startswith(("flags", "model", "cpu family"))}
    kind = hashlib.sha256("".join(sorted(able)).encode()).hexdigest()[:8]
    return f"{processor()} ({kind}), torch {torch.__version__}"


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    squares = write_squares(folder / "squares")
    found = {name: trained(name, squares, folder / name) for name in RUNS}
    kept = {name: {"digest": digest(own), "norms": norms(own)} for name, own in found.items()}
    KNOWN.write_text(json.dumps({"machine": machine(), "systems": kept}, indent=1) + "\n")
    print({name: own["digest"] for name, own in kept.items()}, file=sys.stderr)


if __name__ == "__main__":
    main()
