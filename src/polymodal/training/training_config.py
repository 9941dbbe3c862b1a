"""How a run is trained: what a user can say of it."""

from dataclasses import dataclass
from typing import Literal

from polymodal.base.errors import PolymodalError
from polymodal.data.batch_order import Order


@dataclass(frozen=True, kw_only=True)
class Training:
    """How a run is trained: its budget, its batches, its hardware."""

    epochs: float = 30
    """Epochs over the training pairs."""
    max_steps: int | None = None
    """Total training steps; overrides --epochs."""
    batch_size: int = 128
    """Batch size, over all processes together."""
    seed: int = 0
    """Random seed of the weights, the order of the data, dropout and augmentation."""
    val_every: int | None = None
    """Steps between validations; by default one epoch."""
    checkpoint_every: int = 100
    """Steps between checkpoints; a kill loses at most this many steps, or one minute."""
    clip: float = 2.0
    """Maximum norm of the gradient; 0 for no clipping."""
    precision: Literal["32", "bf16"] = "32"
    """Precision of the training step: float32, or bfloat16 where it is safe. Evaluation uses
    float32."""
    compile: bool = False
    """Compile the encoders with torch.compile: slower to start, faster after."""
    record: bool = False
    """Capture the training step as a CUDA graph and replay it: for small models, whose kernel
    launches take longer than their kernels. Works with and without --compile."""
    accelerator: Literal["auto", "cpu", "gpu"] = "auto"
    """Device to train on; auto uses a GPU if there is one."""
    devices: int = 1
    """Number of processes, one per GPU, or several on the CPU; they share their negatives."""
    resident: bool = False
    """Keep the whole training split on the device, with images as uint8 (for small data)."""
    log_every: int = 10
    """Steps between points of the learning curves."""
    final: bool = False
    """Train on trainval and keep the last step: for zero-shot data, when the budget is chosen."""

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
