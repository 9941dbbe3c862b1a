"""A recorded step is the step itself."""

import numpy as np
import pytest
import torch

from polymodal.base.hardware import products
from polymodal.data.drawn.scenes import named
from polymodal.training import recording
from recordings import Eager
from vlvaes import tiny

STEPS = 10


@pytest.fixture(scope="module")
def train():
    return named("two-objects", size=32, train=16, val=0).splits()["train"]


def trained(system, batch, device="cpu"):
    """The losses of both stages, and the weights after them."""
    system.to(device).train()
    batch = batch.to(device)
    system.clock.last = STEPS
    adam, losses = system.configure_optimizers()["optimizer"], []
    for step in range(STEPS):
        system.clock.step = step
        torch.manual_seed(step)
        found = system.training_step(batch, step)
        system.optimizer_zero_grad(0, step, adam)
        system.backward(found["loss"])
        system.configure_gradient_clipping(adam, 2.0)
        adam.step()
        losses.append(found["shown"].item())
    return losses, {name: value.cpu() for name, value in system.state_dict().items()}


def pair(train):
    """Two systems alike, and a batch."""
    plain, other = (tiny(train, flow_share=0.5, warmup=0.5) for _ in range(2))
    return plain, other, plain.examples(train).batch(np.arange(8))


def test_a_system_takes_the_same_steps_from_a_recording(train, monkeypatch):
    plain, recorded, batch = pair(train)
    losses, weights = trained(plain, batch)
    recorded.recorded = True
    monkeypatch.setattr(recording, "Recording", Eager)
    monkeypatch.setattr(recording, "recordable", lambda device: True)
    found, others = trained(recorded, batch)
    assert isinstance(recorded.recording, Eager)
    assert found == losses
    assert all(torch.equal(weights[name], others[name]) for name in weights)


def test_what_is_done_aside_is_done_in_its_turn_where_nothing_is_recorded():
    x = torch.ones(3, requires_grad=True)
    with recording.Aside(x.device) as aside:
        doubled = 2 * x
    aside.join()
    (doubled + x).sum().backward()
    assert aside.stream is None
    assert x.grad.tolist() == [3.0, 3.0, 3.0]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU to record on")
@pytest.mark.parametrize("compiled", [False, True])
def test_a_graph_takes_the_same_steps(train, compiled):
    plain, recorded, batch = pair(train)
    losses, weights = trained(plain, batch, "cuda")
    recorded.recorded = True
    if compiled:
        recorded.compile_parts()
    with products("highest"):
        found, others = trained(recorded, batch, "cuda")
    assert recorded.recording is not None
    assert found == pytest.approx(losses, rel=1e-3)
    for name in weights:
        torch.testing.assert_close(others[name], weights[name], rtol=1e-2, atol=2e-3)
