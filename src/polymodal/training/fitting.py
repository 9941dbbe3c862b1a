"""Training by Lightning that can be killed at any step and goes on as if it had not been.

Randomness is counter-based throughout: the batch of a step (`data.batch_order`) and the seed of its
dropout and augmentation are functions of the run's seed and the step, so a checkpoint needs to hold
no generator's state, and the weights after n steps do not depend on how often the run was stopped.
"""

import contextlib
import logging
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from lightning import Callback, Trainer
from lightning.pytorch.loggers import TensorBoardLogger

from polymodal.base.errors import PolymodalError
from polymodal.base.hardware import products
from polymodal.data.batch_order import Batches, Examples, Order
from polymodal.training.checkpoints import SafeCheckpoints, newest, step_of
from polymodal.training.recording import Recordable
from polymodal.training.survival import Survival
from polymodal.training.system import Clock, Scores, System
from polymodal.training.training_bar import TrainingBar
from polymodal.training.training_config import Training


def fit(
    system: System,
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
    checkpoint = newest(folder / "checkpoints", say)
    first = step_of(checkpoint) if checkpoint else 0
    if checkpoint:
        say(f"Going on from step {first} of {last}.")
    elif any((folder / "checkpoints").glob("step-*.ckpt")):
        say("No good checkpoint is left: training begins anew.")
    system.clock, system.clip = Clock(first, last), config.clip
    survival = Survival(
        system,
        config,
        folder / "checkpoints",
        val_every=last if config.final else config.val_every or order.steps_per_epoch,
        validate=validate,
        keep=keep,
        say=say,
    )
    bar = TrainingBar(system, config.batch_size, survival.latest)
    with quiet():
        trainer = make_trainer(config, folder, [survival, bar], system)
    if config.compile:
        system.compile_parts()
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
            trainer.fit(system, batches, ckpt_path=checkpoint, weights_only=True)
        except SystemExit as stop:  # how Lightning passes on a Ctrl-C
            raise KeyboardInterrupt from stop
    if system.clock.step < last:
        raise PolymodalError(
            f"Stopped at step {system.clock.step} of {last}. The same command goes on from the last "
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
    config: Training, folder: Path, callbacks: list[Callback], system: System
) -> Trainer:
    """Lightning's trainer, with its own progress, checkpoints and validation left to ours."""
    return Trainer(
        accelerator=config.accelerator,
        devices=config.devices,
        strategy=system.strategy if config.devices > 1 else "auto",
        precision="bf16-mixed" if config.precision == "bf16" else "32-true",
        max_steps=-1,  # the batches end with the budget: Lightning counts the steps of each optimiser
        max_epochs=1,
        gradient_clip_val=(config.clip or None) if system.automatic_optimization else None,
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


def record_steps(system: System) -> None:
    """Let a system play its steps as recorded graphs, if it can."""
    if not isinstance(system, Recordable):
        raise PolymodalError(
            "--record is for VLVAEs, judges and learners of features. Leave it out, or try --compile."
        )
    system.recorded = True
