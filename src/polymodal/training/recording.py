"""A step's loss and gradients as one CUDA graph: recorded once, played for every batch after.

A small network is a thousand short kernels a step, and telling a device of each takes longer than they
do. Playing a recording tells it once.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from polymodal.training.distributed import world
from polymodal.training.system import System

Outputs = dict[str, Tensor]
Step = Callable[[Any], Outputs]
"""From a batch, a dataclass of tensors, to its "loss" and what else a training step gives back."""

WARM = 3
"""Steps before a recording, in which kernels are compiled and chosen."""


class Recording:
    """A step on batches of one shape. Each time it is played it writes its gradients over the last
    ones: nobody must drop them. What changes from step to step must be a tensor that is filled."""

    def __init__(self, system: torch.nn.Module, step: Step, batch: Any) -> None:
        self.step = step
        self.batch = replace(batch, **{k: v.clone() for k, v in vars(batch).items()})
        # what warming up changes is put back: running means, and how far the random numbers are
        kept = [(buffer, buffer.clone()) for buffer in system.buffers()]
        random = torch.cuda.get_rng_state()
        self.warm_up()
        system.zero_grad()  # gradients begin anew in the graph's own memory
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
            self.outputs = self.descend()
        torch.clear_autocast_cache()
        for buffer, value in kept:
            buffer.copy_(value)
        torch.cuda.set_rng_state(random)

    def warm_up(self) -> None:
        """Some steps on a stream of their own."""
        stream, now = torch.cuda.Stream(), torch.cuda.current_stream()
        stream.wait_stream(now)
        with torch.cuda.stream(stream):
            for _ in range(WARM):
                self.descend()
        now.wait_stream(stream)

    def descend(self) -> Outputs:
        """Forward and backward; weights that autocast rounded before are rounded anew."""
        torch.clear_autocast_cache()
        outputs = self.step(self.batch)
        with torch.autocast(outputs["loss"].device.type, enabled=False):
            outputs["loss"].backward()
        return {name: value.detach() for name, value in outputs.items()}

    def play(self, batch: Any) -> Outputs:
        """The step on another batch; what it gives back is overwritten by the next."""
        for name, value in vars(batch).items():
            getattr(self.batch, name).copy_(value)
        self.graph.replay()
        return self.outputs


class Recordable(System):
    """A system whose steps are recorded where that is asked for, on one CUDA device."""

    recorded = False
    recording: Recording | None = None

    def configure_gradient_clipping(
        self,
        optimizer: Any,
        gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None,
    ) -> None:
        """By torch itself: Lightning does not clip for a fused Adam in bf16, though nothing is scaled."""
        if gradient_clip_val:
            for part in self.clipped_apart():
                torch.nn.utils.clip_grad_norm_(part.parameters(), gradient_clip_val)

    def clipped_apart(self) -> list[torch.nn.Module]:
        """Parts whose gradients are clipped by their own norm."""
        return [self]

    def stepped(self, step: Step, batch: Any) -> Outputs:
        """What a step gives back, its gradients too where it is recorded."""
        if not (self.recorded and recordable(self.device) and world() == 1):
            return step(batch)
        if self.recording is None or self.recording.step != step:
            self.recording = None  # whose memory may be needed
            self.recording = Recording(self, step, batch)
        return self.recording.play(batch)

    def backward(self, loss: Tensor, *args: Any, **kwargs: Any) -> None:
        """A recorded step has its gradients already, and its loss asks for none."""
        if loss.requires_grad:
            loss.backward(*args, **kwargs)

    def optimizer_zero_grad(self, epoch: int, batch_idx: int, optimizer: Any) -> None:
        """A recorded step writes its gradients anew."""
        if self.recording is None:
            optimizer.zero_grad()


class Aside:
    """What goes on beside the steps after it, up to `join`: in a recording on a stream of its own, so
    that many small kernels do not wait for large ones nor they for them; elsewhere in its turn.

    Autograd plays the way back on the same streams.
    """

    def __init__(self, device: torch.device) -> None:
        within = device.type == "cuda" and torch.cuda.is_current_stream_capturing()
        self.stream = torch.cuda.Stream(device) if within else None
        self.streaming = torch.cuda.stream(self.stream)  # of None: as it is

    def __enter__(self) -> "Aside":
        if self.stream is not None:
            self.stream.wait_stream(torch.cuda.current_stream())
        self.streaming.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.streaming.__exit__(*error)

    def join(self) -> None:
        """What comes now needs what was made aside."""
        if self.stream is not None:
            torch.cuda.current_stream().wait_stream(self.stream)


def recordable(device: torch.device) -> bool:
    """Whether a device has graphs."""
    return device.type == "cuda"
