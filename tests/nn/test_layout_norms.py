"""Norms that differ from pixel to pixel; moments of a batch that several processes share."""

import gc
import os
from pathlib import Path

import pytest
import torch
from torch import distributed, multiprocessing, nn

from ocgans import some_layouts
from polymodal.nn.layout_conditioning import Condition, Objects
from polymodal.nn.layout_maps import placed
from polymodal.nn.layout_norms import ObjectNorm, PixelNorm, SharedBatchNorm


def maps_and_weights() -> tuple[torch.Tensor, torch.Tensor]:
    """A batch of maps that are not centred, and the weights of a loss of them."""
    chance = torch.Generator().manual_seed(0)
    shape = (6, 3, 4, 4)
    maps = torch.randn(shape, generator=chance, dtype=torch.float64)
    maps = 5 + maps * torch.arange(1, 7)[:, None, None, None]
    return maps, torch.randn(shape, generator=chance, dtype=torch.float64)


def loss_of(maps: torch.Tensor, weights: torch.Tensor) -> dict:
    """What a norm makes of a share of the batch, with the gradient of a loss that is a mean over it."""
    norm = SharedBatchNorm(3, 0.3).double().train()
    maps = maps.clone().requires_grad_()
    found = norm(maps)
    (weights * found.square().sin()).sum().backward()
    return {"found": found.detach(), "gradient": maps.grad, "mean": norm.mean, "var": norm.var}


def process(rank: int, meeting: str, out: str) -> None:
    """One of two, which holds half of the batch and leaves what it found in a file."""
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=2)
    mine = slice(3 * rank, 3 * rank + 3)
    maps, weights = maps_and_weights()
    with Path(f"{out}/{rank}.pt").open("wb") as file:
        torch.save(loss_of(maps[mine], weights[mine]), file)
        file.flush()
        os.fsync(file.fileno())
    gc.collect()
    distributed.barrier()
    distributed.destroy_process_group()
    os._exit(0)  # the interpreter's end must not meet threads of gloo that are still under way


@pytest.mark.slow
def test_two_processes_normalise_as_one(tmp_path):
    multiprocessing.spawn(process, (f"file://{tmp_path}/meeting", str(tmp_path)), nprocs=2)
    two = [torch.load(tmp_path / f"{rank}.pt") for rank in (0, 1)]
    alone = loss_of(*maps_and_weights())
    for name in ("found", "gradient"):
        joined = torch.cat([each[name] for each in two])
        torch.testing.assert_close(joined, alone[name], rtol=0, atol=1e-10)
    assert alone["gradient"].abs().max() > 1e-3
    for each in two:
        for name in ("mean", "var"):
            torch.testing.assert_close(each[name], alone[name], rtol=0, atol=1e-10)


def test_it_is_torch_s_batch_norm_without_scale_and_shift():
    maps, _ = maps_and_weights()
    ours = SharedBatchNorm(3, 0.3).double()
    theirs = nn.BatchNorm2d(3, momentum=0.3, affine=False).double()
    torch.testing.assert_close(ours(maps), theirs(maps))
    torch.testing.assert_close(ours(2 * maps), theirs(2 * maps))
    torch.testing.assert_close(ours.eval()(maps), theirs.eval()(maps))


def condition() -> Condition:
    """Of two layouts of three objects."""
    torch.manual_seed(0)
    layouts = some_layouts(2, objects=3, classes=5)
    layouts.there[1, 2] = False
    embeddings = torch.randn(2, 3, 6, dtype=torch.float64)
    masks = torch.rand(2, 3, 8, 8, dtype=torch.float64)
    told = Objects(embeddings, masks)
    return Condition(
        layouts, classes=5, parts=("embeddings", "classes", "boundaries"), objects=told
    )


def test_scale_and_shift_of_a_pixel_are_convolutions_of_the_condition():
    told = condition()
    norm = PixelNorm(4, condition=12, width=7, momentum=0.1).double().eval()
    maps = torch.randn(2, 4, 8, 8, dtype=torch.float64)
    both = norm.scale_shift(norm.seen(told.maps(8)).relu())
    expected = norm.norm(maps) * (1 + both[:, :4]) + both[:, 4:]
    torch.testing.assert_close(norm(maps, told), expected)


def test_scale_and_shift_of_objects_are_averaged_where_they_overlap():
    told = condition()
    norm = ObjectNorm(4, objects=6, momentum=0.1).double().eval()
    maps = torch.randn(2, 4, 8, 8, dtype=torch.float64)
    masks = placed(told.objects.masks, told.layouts, 8)
    each = norm.scale_shift(told.objects.embeddings)
    expected = norm.norm(maps)
    for b in range(2):
        for y in range(8):
            for x in range(8):
                total = float(masks[b, :, y, x].sum())
                if total:
                    both = sum(masks[b, o, y, x] * each[b, o] for o in range(3)) / total
                    expected[b, :, y, x] = expected[b, :, y, x] * (1 + both[:4]) + both[4:]
    torch.testing.assert_close(norm(maps, told), expected)
    assert (masks.sum(1) == 0).any()
    assert ((masks > 0).sum(1) > 1).any()
