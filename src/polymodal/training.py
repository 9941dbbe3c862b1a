"""Training by Lightning that can be killed at any step and goes on as if it had not been.

Randomness is counter-based throughout: the batch of a step (`data.loading`) and the seed of its
dropout and augmentation are functions of the run's seed and the step, so a checkpoint needs to hold
no generator's state, and the weights after n steps do not depend on how often the run was stopped.
"""

import contextlib
import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from lightning import Callback, Trainer
from lightning.pytorch.loggers import TensorBoardLogger

from polymodal.checkpoints import SafeCheckpoints, newest, step_of
from polymodal.data.loading import Batches, Examples, Order
from polymodal.errors import PolymodalError
from polymodal.hardware import products
from polymodal.progress import Bar
from polymodal.recording import Recordable
from polymodal.survival import Scores, Survival


@dataclass(frozen=True, kw_only=True)
class Training:
    """How a run is trained: its budget, its batches, its hardware."""

    epochs: float = 30
    """Passes over the training pairs."""
    max_steps: int | None = None
    """Steps in all; takes the place of --epochs."""
    batch_size: int = 128
    """Pairs a step, over all processes together."""
    seed: int = 0
    """What the weights, the order of the data, dropout and augmentation are drawn from."""
    val_every: int | None = None
    """Steps between validations; by default one epoch."""
    checkpoint_every: int = 100
    """Steps between checkpoints; a kill loses at most so many, or one minute."""
    clip: float = 2.0
    """Largest norm of the gradient; 0 for no limit."""
    precision: Literal["32", "bf16"] = "32"
    """Arithmetic of the training step: float32, or bfloat16 where it is safe. Evaluation is float32."""
    compile: bool = False
    """Compile the encoders with torch.compile: slower to start, faster after."""
    record: bool = False
    """Record a step on a GPU and play it for every batch, compiled or not: for small models, which take
    longer to tell a device of than to compute."""
    accelerator: Literal["auto", "cpu", "gpu"] = "auto"
    """What to train on; auto takes a GPU where there is one."""
    devices: int = 1
    """Processes, one a GPU (or several on the CPU); negatives are shared among them."""
    resident: bool = False
    """Keep the whole training split on the device, pictures as uint8 (for small data)."""
    log_every: int = 10
    """Steps between points of the learning curves."""
    final: bool = False
    """Learn from trainval and keep the last step: for zero-shot data, once val has chosen the budget."""

    def __post_init__(self) -> None:
        counts = ("epochs", "batch_size", "checkpoint_every", "devices", "log_every")
        for name in (*counts, "max_steps", "val_every"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise PolymodalError(f"{name} must be above 0, not {value}.")
        if self.seed >= 2**63:
            raise PolymodalError(f"seed must be below 2^63, not {self.seed}.")
        for name in ("seed", "clip"):
            if not getattr(self, name) >= 0:
                raise PolymodalError(f"{name} must be 0 or more, not {getattr(self, name)}.")

    def budget(self, order: Order) -> int:
        """Steps in all."""
        return self.max_steps or max(1, round(self.epochs * order.steps_per_epoch))


OPERATIONAL = frozenset(
    {"checkpoint_every", "log_every", "accelerator", "devices", "compile", "record", "resident"}
)
"""Fields that may differ when a run goes on: they change how fast it trains, and at most the rounding
and which augmentations are drawn."""


def fit(
    system: Any,
    examples: Examples,
    config: Training,
    folder: Path,
    *,
    validate: Callable[[], Scores],
    keep: Callable[[], None],
    say: Callable[[str], None],
) -> list[Scores]:
    """Train `system` in `folder` to the end of its budget, from its newest checkpoint if there is one.

    `validate` scores the system as it is; `keep` saves its weights as the best so far. Gives back
    the learning curves, a row a point.
    """
    order = Order(examples=len(examples), batch_size=config.batch_size, seed=config.seed)
    last = config.budget(order)
    if config.accelerator == "gpu" and torch.cuda.device_count() < config.devices:
        raise PolymodalError(
            f"--accelerator gpu with --devices {config.devices}, but {torch.cuda.device_count()} GPUs "
            "are to be seen (`polymodal doctor`). Give --accelerator cpu, or fewer devices."
        )
    found = newest(folder / "checkpoints", say)
    first = step_of(found) if found else 0
    if found:
        say(f"Going on from step {first} of {last}.")
    survival = Survival(
        config,
        folder / "checkpoints",
        val_every=last if config.final else config.val_every or order.steps_per_epoch,
        last=last,
        validate=validate,
        keep=keep,
        say=say,
    )
    bar = Bar(first, last, config.batch_size, ("loss", system.monitor), survival.latest)
    with quiet():
        trainer = make_trainer(config, folder, last, [survival, bar], system)
    if config.compile:
        compile_parts(system)
    if config.record:
        record_steps(system)
    batches = Batches(
        examples,
        order,
        first=first,
        last=last,
        rank=trainer.global_rank,
        world=trainer.world_size,
    )
    system.train()
    with quiet(), products("high" if config.precision == "bf16" else "highest"):
        try:
            trainer.fit(system, batches, ckpt_path=found, weights_only=True)
        except SystemExit as stop:  # how Lightning passes on a Ctrl-C
            raise KeyboardInterrupt from stop
    if trainer.global_step < last:
        raise PolymodalError(
            f"Stopped at step {trainer.global_step} of {last}. The same command goes on from the last "
            "checkpoint."
        )
    return survival.curves


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep Lightning's advice to itself: frozen encoders are meant to be in eval mode, and so on."""
    logs = [logging.getLogger(f"lightning.{part}") for part in ("pytorch", "fabric")]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*in eval mode at the start of training")
            warnings.filterwarnings("ignore", message=".*LeafSpec.*is deprecated")
            yield
    finally:
        for log, level in zip(logs, levels, strict=True):
            log.setLevel(level)


def make_trainer(
    config: Training, folder: Path, last: int, callbacks: list[Callback], system: Any
) -> Trainer:
    """Lightning's trainer, with its own progress, checkpoints and validation left to ours."""
    return Trainer(
        accelerator=config.accelerator,
        devices=config.devices,
        strategy=getattr(system, "strategy", "ddp") if config.devices > 1 else "auto",
        precision="bf16-mixed" if config.precision == "bf16" else "32-true",
        max_steps=last,
        max_epochs=-1,
        gradient_clip_val=config.clip or None,
        logger=TensorBoardLogger(folder, "tensorboard", "", default_hp_metric=False),
        log_every_n_steps=config.log_every,
        callbacks=callbacks,
        plugins=[SafeCheckpoints()],
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        use_distributed_sampler=False,
        default_root_dir=folder,
    )


def compile_parts(system: Any) -> None:
    """Compile each part of a system in place, so that its weights keep their names, or those that it
    names itself."""
    if hasattr(system, "compile_parts"):
        system.compile_parts()
        return
    for part in system.children():
        part.compile()


def record_steps(system: Any) -> None:
    """Let a system play its steps as recorded graphs, if it can."""
    if not isinstance(system, Recordable):
        raise PolymodalError(
            "--record is for VLVAEs, judges and learners of features. Leave it out, or try --compile."
        )
    system.recorded = True
