"""Compute image features once, for training with a frozen encoder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional

from polymodal.cli import Device, SkipBad, parse_options


@dataclass(frozen=True, kw_only=True)
class Features:
    """Compute image features once; repeat the command to resume."""

    data: Annotated[str, Positional]
    """Dataset, named as in `polymodal train`."""
    out: Path
    """Features folder to create or resume, for `polymodal train --features`."""
    encoder: str = "efficientnet-lite0"
    """efficientnet-lite0, or a transformers model: hub id or folder."""
    batch_size: int = 32
    """Batch size."""
    device: Device = "cpu"
    skip_bad: SkipBad = False


def main(arguments: list[str]) -> None:
    from polymodal.base.files import check_folder
    from polymodal.base.progress import say
    from polymodal.runs.feature_building import compute_features

    options = parse_options(Features, "features", arguments)
    check_folder(options.out)
    compute_features(**vars(options))
    say(f"Next: polymodal train vse --data {options.data} --features {options.out} --run runs/NAME")
