"""Losses of two processes are those of one that has the joined batch, and so are their gradients."""

import gc
import os
from pathlib import Path

import pytest
import torch
from torch import distributed, multiprocessing

from ocgans import SCENES, TINY, some_layouts
from polymodal.nn.layout_maps import Layouts
from polymodal.systems.layout.layout_losses import discriminators_loss
from polymodal.systems.layout.layout_networks import discriminators
from polymodal.systems.layout.ocgan import Config
from polymodal.systems.layout.similarity_module import SGSM
from toys import polymodal, write_backbone

MODULE = {
    "pictures": {"network": "convnet", "convnet": 8, "places": 32, "whole": 256},
    "dim": 8,
    "hidden": 8,
    "layers": 2,
    "relations": "all",
    "gammas": [5.0, 5.0, 10.0],
}


def batch(rows: slice) -> tuple[torch.Tensor, torch.Tensor, Layouts]:
    """Real and drawn pictures of layouts, of which the first have fewer objects than the last."""
    chance = torch.Generator().manual_seed(0)
    real, drawn = torch.rand(2, 6, 3, 32, 32, generator=chance, dtype=torch.float64) * 2 - 1
    layouts = some_layouts(6, objects=3, classes=5)
    layouts.there[:3, 1:] = False
    own = torch.arange(6)[rows]
    return real[rows], drawn[rows], layouts.take(own)


class Step(torch.nn.Module):
    """Both losses, as DDP takes them."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        config = Config(patch_width=4, object_width=4)
        self.judges = discriminators(config, {"classes": ["a"] * 5}).double().eval()
        self.module = SGSM(MODULE, 5).double()

    def forward(self, real: torch.Tensor, drawn: torch.Tensor, layouts: Layouts) -> torch.Tensor:
        beside = torch.ones(len(real), 6, 32, 32, dtype=torch.float64)
        of_real, of_drawn = self.judges(torch.cat([real, drawn]), beside, layouts).halves()
        classes = layouts.classes.flatten()[layouts.objects]
        loss, _ = discriminators_loss(of_real, of_drawn, classes, 0.5)
        return loss + self.module((drawn + 1) * 127.5, layouts)


def loss_and_gradients(rows: slice, shared: bool) -> dict[str, torch.Tensor]:
    """What a process that has these rows finds, averaged as DDP does."""
    torch.set_num_threads(1)
    own = Step()
    step = torch.nn.parallel.DistributedDataParallel(own) if shared else own
    loss = step(*batch(rows))
    loss.backward()
    return {"loss": loss.detach()} | {name: p.grad for name, p in own.named_parameters()}


def process(rank: int, meeting: str, out: str) -> None:
    """One of two, which leaves what it found in a file."""
    distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=2)
    found = loss_and_gradients(slice(3 * rank, 3 * rank + 3), shared=True)
    with Path(f"{out}/{rank}.pt").open("wb") as file:
        torch.save(found, file)
        file.flush()
        os.fsync(file.fileno())
    gc.collect()  # DDP's reducer holds on to the group
    distributed.barrier()
    distributed.destroy_process_group()
    os._exit(0)  # the interpreter's end must not meet threads of gloo that are still under way


@pytest.mark.slow
def test_two_processes_learn_as_one(tmp_path):
    multiprocessing.spawn(process, (f"file://{tmp_path}/meeting", str(tmp_path)), nprocs=2)
    two = [torch.load(tmp_path / f"{rank}.pt") for rank in (0, 1)]
    alone = loss_and_gradients(slice(None), shared=False)
    loss = alone.pop("loss")
    mean = (two[0].pop("loss") + two[1].pop("loss")) / 2
    torch.testing.assert_close(mean, loss, rtol=1e-6, atol=0)  # hinges are summed in float32
    for shared in two:
        assert shared.keys() == alone.keys()
        for name, value in alone.items():
            torch.testing.assert_close(shared[name], value, rtol=1e-5, atol=1e-7, msg=name)
    assert sum(value.abs().max() > 1e-4 for value in alone.values()) > 40


@pytest.mark.slow
def test_the_command_line_trains_with_two(tmp_path):
    seen = str(write_backbone(tmp_path / "seen", "resnet"))
    flags = [
        part for name, value in TINY.items() for part in (f"--{name.replace('_', '-')}", str(value))
    ]
    run = tmp_path / "run"
    command = ["train", "ocgan", "--data", SCENES, "--run", str(run), *flags]
    networks = ["--perceptual", seen, "--measured-by", seen]
    short = ["--max-steps", "3", "--batch-size", "8", "--accelerator", "cpu", "--devices", "2"]
    status, printed = polymodal(*command, *networks, *short)
    assert status == 0, printed
    assert (run / "model.safetensors").exists()
    assert (run / "metrics.json").exists()
