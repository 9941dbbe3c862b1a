"""The benchmark of OC-GAN: the plain step is the same step, and both are timed; so are composed pictures."""

import argparse
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from polymodal.maths.layout_relations import relations
from polymodal.nn.feature_networks import network_named
from polymodal.nn.layout_conditioning import Condition, Objects
from polymodal.nn.layout_discriminators import object_crops
from polymodal.nn.layout_maps import Layouts, boundaries, one_hot
from polymodal.systems.layout.layout_networks import maps_beside
from toys import carry_out, write_backbone

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PROGRAM = f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r}); import ocgan; ocgan.main()"
SMALL = "--size 32 --slim 16 --batch 4 --images 8 --steps 1 --rounds 1 --workers 0 --sgsm"
FILES = ("ocgan", "plain_ocgan", "plain_layouts", "timing")


@pytest.fixture
def files(monkeypatch):
    """The benchmark's files."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import ocgan
    import plain_layouts
    import plain_ocgan

    yield SimpleNamespace(ocgan=ocgan, step=plain_ocgan, layouts=plain_layouts)
    for name in FILES:
        sys.modules.pop(name)


@pytest.fixture(scope="module")
def seen(tmp_path_factory) -> Path:
    """A tiny network that the perceptual loss looks through."""
    return write_backbone(tmp_path_factory.mktemp("seen"), "resnet")


@pytest.fixture
def options(seen) -> argparse.Namespace:
    return argparse.Namespace(
        size=32, slim=16, batch=4, images=8, device="cpu", sgsm=True, perceptual=str(seen)
    )


def some_layouts() -> Layouts:
    """Boxes that overlap, lie within another, have one centre in x, are thinner than a pixel; a place
    without any. Sixty-fourths of a side are exact."""
    boxes = torch.tensor(
        [
            [[8, 12, 44, 56], [20, 20, 32, 38], [26, 6, 64, 32]],
            [[17, 0, 18, 64], [0, 33, 56, 34], [0, 0, 0, 0]],
        ]
    )
    there = torch.tensor([[True, True, True], [True, True, False]])
    return Layouts(boxes / 64, torch.tensor([[0, 2, 1], [1, 1, 0]]), there)


def test_plain_maps_and_crops_are_ours(files):
    layouts, plain = some_layouts(), files.layouts
    pictures, cpu = plain.listed(layouts), torch.device("cpu")
    assert torch.equal(plain.class_maps(pictures, 3, 16, cpu), one_hot(layouts, 3, 16))
    assert torch.equal(plain.edge_maps(pictures, 16, cpu), boundaries(layouts, 16))
    assert torch.equal(plain.related(pictures, 3), relations(layouts.boxes, layouts.there))
    torch.manual_seed(0)
    objects = Objects(torch.randn(2, 3, 5), torch.rand(2, 3, 8, 8))
    ours = Condition(layouts, classes=3, parts=("embeddings",), objects=objects).maps(16)
    torch.testing.assert_close(plain.masked(pictures, objects, 16), ours)
    images = torch.rand(2, 3, 16, 16)
    torch.testing.assert_close(plain.crops(images, pictures), object_crops(images, layouts))


def same(one: dict, other: dict) -> None:
    """Both have the same values to rounding, by the same names."""
    assert one.keys() == other.keys()
    for name, value in one.items():
        torch.testing.assert_close(value, other[name], rtol=1e-3, atol=1e-5, msg=name)


def two_steps(files, kind: str, options: argparse.Namespace) -> tuple[list[float], dict, dict]:
    """The losses shown at two steps of plain gradient descent, the weights after them, the gradients."""
    train = files.ocgan.noise(options)
    system = files.ocgan.built(train, options)
    parts = (system.discriminators, system.generator)
    optimizers = [torch.optim.SGD(part.parameters(), 0.01) for part in parts]
    examples = system.examples(train)
    batches = iter([examples.batch(np.arange(4)), examples.batch(np.arange(4, 8))])
    if kind == "plain":
        step = files.step.PlainStep(system, batches, optimizers)
    else:
        step = files.ocgan.our_step(system, batches, optimizers, fast=False)
    torch.manual_seed(1)
    shown = [step().item() for _ in range(2)]
    gradients = {name: p.grad for name, p in system.named_parameters() if p.requires_grad}
    return shown, system.state_dict(), gradients


@pytest.mark.slow
def test_a_plain_step_is_our_step(files, options):
    plain, ours = (two_steps(files, kind, options) for kind in ("plain", "ours"))
    assert plain[0] == pytest.approx(ours[0], rel=1e-4)
    same(plain[1], ours[1])
    same(plain[2], ours[2])


@pytest.mark.slow
def test_plain_losses_and_pictures_are_ours(files, options):
    train = files.ocgan.noise(options)
    one, other = (files.ocgan.built(train, options) for _ in range(2))
    batch = one.examples(train).batch(np.arange(4))
    layouts = Layouts(batch.boxes, batch.classes, batch.there)
    pictures, noise = files.layouts.listed(layouts), one.fresh_noise(layouts)
    made = one.drawn(one.generator, layouts, noise)
    torch.testing.assert_close(files.step.drawn(other, layouts, pictures, noise), made)

    beside = maps_beside(one.config, layouts, len(one.classes), one.size)
    torch.testing.assert_close(files.step.maps_beside(other, pictures), beside)
    ours, plain = (
        one.discriminators(made, beside, layouts),
        files.step.judged(other, made, beside, pictures),
    )
    for mine, theirs in zip(ours.patches, plain.patches, strict=True):
        torch.testing.assert_close(theirs, mine)
    torch.testing.assert_close(plain.objects, ours.objects)
    torch.testing.assert_close(plain.classes, ours.classes)

    (module,) = one.similarity
    pixels = (made + 1) * 127.5
    loss = files.step.similarity_loss(module, pixels, layouts, pictures)
    torch.testing.assert_close(loss, module(pixels, layouts))


@pytest.mark.slow
def test_another_step_is_not_timed(files, options, monkeypatch):
    files.ocgan.check_same(options)
    monkeypatch.setattr(
        files.step, "edge_maps", lambda p, size, device: torch.zeros(len(p), 1, size, size)
    )
    with pytest.raises(SystemExit, match="do not have the same gradients"):
        files.ocgan.check_same(options)


@pytest.mark.slow
def test_all_steps_are_timed(tmp_path, seen):
    out = tmp_path / "found.json"
    shown = carry_out(PROGRAM, *SMALL.split(), "--perceptual", str(seen), "--out", str(out))
    assert "Ours / plain" in shown
    found = json.loads(out.read_text())
    spent = {row["name"]: row["metrics"] for row in found["rows"]}
    assert list(spent) == ["plain", "float32", "ours"]
    assert found["ratio"] == pytest.approx(spent["plain"]["seconds"] / spent["ours"]["seconds"])
    for metrics in spent.values():
        assert metrics["images_a_second"] == pytest.approx(4 / metrics["seconds"])
        assert metrics["busy"] is None
    assert found["target"] == 4
    assert found["protocol"]["sgsm"] is True


@pytest.mark.slow
def test_operations_are_counted(tmp_path, seen):
    out = tmp_path / "found.json"
    carry_out(PROGRAM, *SMALL.split(), "--perceptual", str(seen), "--operations", "--out", str(out))
    rows = json.loads(out.read_text())["rows"]
    spent = {row["name"]: row["metrics"]["operations"] for row in rows}
    assert list(spent) == ["ours", "no perceptual loss", "no SGSM"]
    with FlopCounterMode(display=False) as counter:
        network_named(str(seen)).body(torch.zeros(1, 3, 32, 32))
    # real pictures go through the network, drawn ones do and their gradients come back through it
    once = counter.get_total_flops() / 1e9
    assert spent["ours"] - spent["no perceptual loss"] == pytest.approx(3 * once)
    assert spent["no SGSM"] < spent["ours"]


@pytest.mark.slow
def test_composed_pictures_are_timed(tmp_path):
    out = tmp_path / "found.json"
    small = "--compose --size 32 --slim 16 --rounds 2 --steps 1 --objects 3"
    shown = carry_out(PROGRAM, *small.split(), "--out", str(out))
    assert "A layout of 3 objects at 32×32" in " ".join(shown.split())
    found = json.loads(out.read_text())
    one, many = (row["metrics"] for row in found["rows"])
    assert one["images_a_second"] == pytest.approx(1000 / one["milliseconds"])
    assert many["images_a_second"] == pytest.approx(32 * 1000 / many["milliseconds"])
    assert found["target"] == 150
