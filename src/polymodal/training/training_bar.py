"""One line of progress of a training: how far, how fast, how well."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lightning import Callback, LightningModule, Trainer

from polymodal.base import progress
from polymodal.base.progress import console, drawn_bar, say
from polymodal.training.system import System

if TYPE_CHECKING:
    from rich.progress import Progress


class TrainingBar(Callback):
    """A bar over all steps with the loss, the validation score and examples a second."""

    def __init__(self, system: System, batch_size: int, latest: Mapping[str, float]) -> None:
        self.clock, self.first, self.batch_size = system.clock, system.clock.step, batch_size
        self.names, self.latest = ("loss", system.monitor), latest
        self.bar: "Progress | None" = None

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not trainer.is_global_zero:
            return
        self.bar = drawn_bar()
        self.task = self.bar.add_task(
            "training", total=self.clock.last, completed=self.first, state=""
        )
        self.began = self.printed = time.monotonic()
        if console.is_terminal:
            self.bar.start()

    def on_train_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        if self.bar is None:
            return
        step = self.clock.step
        speed = (step - self.first) * self.batch_size / (time.monotonic() - self.began)
        shown = [f"{name} {self.latest[name]:.4g}" for name in self.names if name in self.latest]
        state = "  ".join([*shown, f"{speed:.0f} examples/s"])
        self.bar.update(self.task, completed=step, state=state)
        if not console.is_terminal and time.monotonic() - self.printed > progress.PAUSE:
            self.printed = time.monotonic()
            say(f"step {step} of {self.clock.last}  {state}")

    def stop(self) -> None:
        if self.bar is not None:
            self.bar.stop()
            self.bar = None

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.stop()

    def on_exception(
        self, trainer: Trainer, pl_module: LightningModule, exception: BaseException
    ) -> None:
        self.stop()
