"""How a run is trained: what a user can say of it."""

from dataclasses import dataclass
from typing import Annotated, Literal

from polymodal.base.ranges import Positive, Range, ZeroOrMore, check_ranges
from polymodal.data.batch_order import Order


@dataclass(frozen=True, kw_only=True)
class Training:
    """How a run is trained: its budget, its batches, its hardware."""

    epochs: Annotated[float, Range("must be above 0", lambda n: n > 0)] = 30
    """Epochs over the training pairs."""
    max_steps: Positive[int | None] = None
    """Total training steps; overrides --epochs."""
    batch_size: Positive[int] = 128
    """Batch size, over all processes together."""
    seed: ZeroOrMore[Annotated[int, Range("must be below 2^63", lambda n: n < 2**63)]] = 0
    """Random seed of the weights, the order of the data, dropout and augmentation."""
    val_every: Positive[int | None] = None
    """Steps between validations; by default one epoch."""
    checkpoint_every: Positive[int] = 100
    """Steps between checkpoints; a kill loses at most this many steps, or one minute."""
    clip: Annotated[float, Range("must be 0 or more", lambda n: n >= 0)] = 2.0
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
    devices: Positive[int] = 1
    """Number of processes, one per GPU, or several on the CPU; they share their negatives."""
    resident: bool = False
    """Keep the whole training split on the device, with images as uint8 (for small data)."""
    log_every: Positive[int] = 10
    """Steps between points of the learning curves."""
    final: bool = False
    """Train on trainval and keep the last step: for zero-shot data, when the budget is chosen."""

    def __post_init__(self) -> None:
        check_ranges(self)

    def budget(self, order: Order) -> int:
        """Steps in all."""
        return self.max_steps or max(1, round(self.epochs * order.steps_per_epoch))


OPERATIONAL = frozenset(
    {"checkpoint_every", "log_every", "accelerator", "devices", "compile", "record", "resident"}
)
"""Fields that may differ when a run goes on: they change how fast it trains, and at most the rounding
and which augmentations are drawn."""
