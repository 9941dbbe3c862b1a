"""What a figure is measured on, and how exactly it multiplies."""

import contextlib
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def hardware() -> dict[str, Any]:
    """Processor, cores, memory and accelerator, in words."""
    import torch

    facts: dict[str, Any] = {
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
    }
    if torch.cuda.is_available():
        facts["accelerator"] = torch.cuda.get_device_name()
    return facts


def usable(device: str) -> Any:
    """A device by name, if it is there and gives results: meta, for one, gives none."""
    import torch

    from polymodal.base.errors import PolymodalError

    try:
        chosen = torch.device(device)
        torch.ones(1, device=chosen).sum().item()
    except (RuntimeError, AssertionError, ImportError, TypeError) as error:
        raise PolymodalError(
            f"The device {device!r} cannot be used here ({str(error).splitlines()[0]}). "
            "`polymodal doctor` lists what there is; cpu always works."
        ) from error
    return chosen


def on_gpu(accelerator: str) -> bool:
    """Whether "auto", "cpu" or "gpu" means a GPU here."""
    import torch

    return accelerator != "cpu" and torch.cuda.is_available()


@contextlib.contextmanager
def products(precision: str) -> Iterator[None]:
    """Products of float32 matrices at the "highest" precision, or at a "high" one: TF32 on a GPU."""
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def processor() -> str:
    """The processor's own name, where the system tells it."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
            names = [
                line.partition(":")[2].strip() for line in lines if line.startswith("model name")
            ]
    except FileNotFoundError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()
