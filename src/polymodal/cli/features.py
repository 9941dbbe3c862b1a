"""Compute image features once, so that training with a frozen encoder need not run it again."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated


@dataclass(frozen=True, kw_only=True)
class FeatureOptions:
    """Compute image features once."""

    out: Path
    """The features folder to make, or to go on with; give it to `polymodal train --features`."""
    encoder: str = "efficientnet-lite0"
    """efficientnet-lite0, or a transformers model: hub id or folder."""
    batch_size: int = 32
    """Pictures at once."""
    device: str = "cpu"
    """Where to compute, for instance cuda."""
    skip_bad: bool = False
    """Leave out bad records of a folder."""


def main(arguments: list[str]) -> None:
    import tyro

    def features(
        data: Annotated[str, tyro.conf.Positional],
        options: Annotated[FeatureOptions, tyro.conf.arg(name="")],
    ) -> None:
        """Compute image features once; killed, the same command goes on.

        Args:
            data: The dataset, named as in `polymodal train`.
            options: How.
        """
        from polymodal.base.progress import say
        from polymodal.runs import jobs

        jobs.compute_features(data, **vars(options))
        say(f"Next: polymodal train vse --data {data} --features {options.out} --run runs/NAME")

    tyro.cli(features, args=arguments, prog="polymodal features")
