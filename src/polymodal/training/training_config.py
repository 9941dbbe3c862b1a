"""How a run is trained: what a user can say of it."""

from dataclasses import dataclass
from typing import Literal

from polymodal.base.errors import PolymodalError
from polymodal.data.batch_order import Order


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
