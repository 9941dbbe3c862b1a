"""Two processes are one: the same loss and the same gradients as one process with the joined batch."""

import gc
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import distributed, multiprocessing

from polymodal.training.distributed import gather, world
from toys import TINY, polymodal

PLACES = np.array([0, 7, 2, 3, 1, 12, 6, 30])
"""Pairs 0 and 1, 2 and 3, 6 and 7 are of one image each, and lie partly in different processes."""


LOSSES = {
    "hardest": {"negatives": "hardest"},
    "sum": {"negatives": "sum"},
    "infonce": {"loss": "infonce", "scale": 10.0, "learn_scale": True},
    "sigmoid": {"loss": "sigmoid", "scale": 10.0, "bias": -10.0, "pseudo_positives": 0.1},
}


def loss_and_gradients(folder: str, rank: int, processes: int, loss: str) -> dict:
    """What one step gives a process that holds its share of the batch, averaged as DDP does."""
    from polymodal.data.folder import open_folder
    from polymodal.systems.retrieval.vse import Config, build, learn

    torch.set_num_threads(1)
    train = open_folder(folder, size=32, progress=False)["train"]
    config = Config(embed_dim=16, hidden=16, word_dim=8, convnet_width=8, **LOSSES[loss])
    torch.manual_seed(0)
    system = build(config, learn(config, train)).double()
    share = len(PLACES) // processes
    batch = system.examples(train).batch(PLACES[rank * share : (rank + 1) * share])

    class Step(torch.nn.Module):
        """A training step as DDP takes it."""

        def __init__(self) -> None:
            super().__init__()
            self.system = system

        def forward(self) -> torch.Tensor:
            return self.system.training_step(batch, 0)["loss"]

    step = Step()
    if processes > 1:
        step = torch.nn.parallel.DistributedDataParallel(step)
    cost = step()
    cost.backward()
    found = {name: p.grad for name, p in system.named_parameters()}
    return {"loss": cost.detach(), **found}


def process(rank: int, meeting: str, folder: str, out: str) -> None:
    """One of two, which takes a step of each loss and leaves what it found in a file."""
    distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=2)
    found = {loss: loss_and_gradients(folder, rank, 2, loss) for loss in LOSSES}
    with Path(f"{out}/{rank}.pt").open("wb") as file:
        torch.save(found, file)
        file.flush()
        os.fsync(file.fileno())
    gc.collect()  # DDP's reducers hold on to the group
    distributed.barrier()
    distributed.destroy_process_group()
    os._exit(0)  # the interpreter's end must not meet threads of gloo that are still under way


@pytest.fixture(scope="module")
def two(squares, tmp_path_factory) -> list[dict]:
    """What each of two processes found, for every loss."""
    out = tmp_path_factory.mktemp("two")
    meeting = f"file://{out}/meeting"
    multiprocessing.spawn(process, (meeting, str(squares), str(out)), nprocs=2, join=True)
    return [torch.load(out / f"{rank}.pt") for rank in (0, 1)]


def test_alone_nothing_is_gathered():
    rows = torch.randn(3, 2)
    assert gather(rows) is rows
    assert world() == 1


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_two_processes_equal_one_with_the_joined_batch(squares, two, loss: str):
    alone = loss_and_gradients(str(squares), 0, 1, loss)
    assert alone["loss"] > 0.1
    for shared in (found[loss] for found in two):
        assert shared.keys() == alone.keys()
        for name, value in alone.items():
            torch.testing.assert_close(shared[name], value, rtol=0, atol=1e-10, msg=name)
    moved = [name for name, value in alone.items() if value.abs().max() > 1e-6]
    learned = {"loss"} if LOSSES[loss].get("loss") else set()  # the scale or the bias
    assert {name.split(".")[0] for name in moved if "." in name} == {"images", "captions"} | learned


@pytest.mark.slow
def test_the_command_line_trains_with_two(squares, tmp_path):
    run = tmp_path / "run"
    command = ["train", "vse", "--data", f"folder:{squares},size=32", "--run", str(run), *TINY]
    short = ["--max-steps", "3", "--batch-size", "8", "--accelerator", "cpu", "--devices", "2"]
    status, printed = polymodal(*command, *short)
    assert status == 0, printed
    assert (run / "model.safetensors").exists()
    assert (run / "metrics.json").exists()
