"""What happens after each step of a training, so that a kill loses little and changes nothing."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from lightning import Callback, LightningModule, Trainer

from polymodal.base.errors import PolymodalError
from polymodal.base.hardware import products
from polymodal.nn.finite import first_unfinite
from polymodal.training.checkpoints import checkpoint_path, newest, prune, step_of
from polymodal.training.system import Scores, System
from polymodal.training.training_config import Training


class Survival(Callback):
    """After each step: seed, watch, validate, keep the best, checkpoint, in this order.

    A kill at any point leaves a checkpoint from which the same steps are done again.
    """

    def __init__(
        self,
        system: System,
        config: Training,
        folder: Path,
        *,
        val_every: int,
        last: int,
        validate: Callable[[], Scores],
        keep: Callable[[], None],
        say: Callable[[str], None],
    ) -> None:
        self.system, self.config, self.folder = system, config, folder
        self.val_every, self.last = val_every, last
        self.validate, self.keep, self.say = validate, keep, say
        self.best: float | None = None
        self.kept: int | None = None
        """The step whose weights are kept as the best."""
        self.curves: list[Scores] = []
        self.latest: Scores = {}
        self.symptoms_in_a_row = 0
        self.saved = time.monotonic()

    def state_dict(self) -> dict[str, Any]:
        return {"best": self.best, "curves": self.curves, "kept": self.kept}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        best = state["best"]
        self.best = None if best == -float("inf") else best  # as earlier checkpoints have it
        self.curves = state["curves"]
        self.kept = state.get("kept")  # which earlier checkpoints lack

    def on_train_batch_start(
        self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int
    ) -> None:
        seed_devices(step_seed(self.config.seed, self.system.clock.step, trainer.global_rank))

    def on_train_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        self.system.clock.step += 1
        step = self.system.clock.step
        point: Scores = {}
        overdue = trainer.world_size == 1 and time.monotonic() - self.saved > 60
        saving = step % self.config.checkpoint_every == 0 or step == self.last or overdue
        if step % self.config.log_every == 0 or saving:
            point["loss"] = self.watch(outputs["shown"].item(), step)
        validating = step % self.val_every == 0 or step == self.last
        if validating or saving:
            self.check_weights(step)
        if validating:
            point |= self.select(trainer, step)
        if point:
            self.curves.append({"step": step, **point})
            self.latest |= point
            for logger in trainer.loggers:
                logger.log_metrics(point, step)
        if saving:
            trainer.save_checkpoint(checkpoint_path(self.folder, step))
            self.saved = time.monotonic()
            if trainer.is_global_zero:
                prune(self.folder, step)

    def watch(self, loss: float, step: int) -> float:
        """Stop at a loss that is NaN; warn when it stays at a value that means collapse."""
        if loss != loss or loss in (float("inf"), -float("inf")):
            raise PolymodalError(f"The loss became {loss} at step {step}. {self.left()}")
        symptom = self.system.symptom(loss)
        self.symptoms_in_a_row = self.symptoms_in_a_row + 1 if symptom else 0
        if symptom and self.symptoms_in_a_row == 5:
            self.say(f"At step {step}: {symptom}")
        return loss

    def check_weights(self, step: int) -> None:
        """Never keep weights, or buffers such as running means, that are no numbers."""
        name = first_unfinite(self.system.state_dict())
        if name:
            raise PolymodalError(
                f"The weights {name} are no longer finite at step {step}. {self.left()}"
            )

    def left(self) -> str:
        """What a training that has diverged leaves, and what to do."""
        found = newest(self.folder, self.say)
        change = "a smaller --lr, --clip 1 or --precision 32"
        told = (
            f"Try {change} in another --run. The last good checkpoint here is that of step "
            f"{step_of(found)}, in {self.folder}."
            if found
            else f"Nothing is left to go on from: start again with {change}."
        )
        if self.kept:
            told += (
                f" The best weights until then, of step {self.kept}, are in {self.folder.parent}."
            )
        return told

    def select(self, trainer: Trainer, step: int) -> Scores:
        """Score the system on the validation split and keep it if it is the best so far."""
        scores: Scores = {}
        if trainer.is_global_zero:
            # other sizes are not worth compiling for
            with torch.compiler.set_stance("force_eager"), products("highest"):
                scores = self.validate()
            if self.config.final:  # what was learned from tells nothing: the last step is kept
                scores = {}
                self.keep_as_best(step)
            score = scores.get(self.system.monitor)  # there may be none before a later stage begins
            if score is not None and self.system.improves(score, self.best):
                self.best = score
                self.keep_as_best(step)
            self.system.train()
        trainer.strategy.barrier()
        return scores

    def keep_as_best(self, step: int) -> None:
        """Save the weights, and note of which step they are."""
        self.keep()
        self.kept = step


def seed_devices(seed: int) -> None:
    """Seed the generators of the devices that are there. `torch.manual_seed` sets those of all kinds of
    device, and notes for each that is not there from where it was called: longer than a short step."""
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(seed)
    if torch.backends.mps.is_available():
        torch.mps.manual_seed(seed)


def step_seed(seed: int, step: int, rank: int) -> int:
    """A seed of 63 bits for one step of one process.

    >>> step_seed(0, 1, 0) != step_seed(1, 0, 0)
    True
    """
    value = 0
    for part in (seed, step, rank):
        value = (value + part + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
        value ^= value >> 29
    return value >> 1
