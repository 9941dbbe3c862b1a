"""Compute image features once, for training with a frozen encoder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated


@dataclass(frozen=True, kw_only=True)
class FeatureOptions:
    """Options of the features."""

    out: Path
    """Features folder to create or resume, for `polymodal train --features`."""
    encoder: str = "efficientnet-lite0"
    """efficientnet-lite0, or a transformers model: hub id or folder."""
    batch_size: int = 32
    """Batch size."""
    device: str = "cpu"
    """Device to compute on, for instance cuda."""
    skip_bad: bool = False
    """Skip bad records of a folder."""


def main(arguments: list[str]) -> None:
    import tyro

    def features(
        data: Annotated[str, tyro.conf.Positional],
        options: Annotated[FeatureOptions, tyro.conf.arg(name="")],
    ) -> None:
        """Compute image features once; repeat the command to resume.

        Args:
            data: Dataset, named as in `polymodal train`.
            options: Options.
        """
        from polymodal.base.progress import say
        from polymodal.runs import jobs

        jobs.compute_features(data, **vars(options))
        say(f"Next: polymodal train vse --data {data} --features {options.out} --run runs/NAME")

    tyro.cli(features, args=arguments, prog="polymodal features")
