"""Compute image features once, so that training with a frozen encoder need not run it again."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any


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
        compute(data, options)

    tyro.cli(features, args=arguments, prog="polymodal features")


def compute(data: str, options: FeatureOptions) -> None:
    """Run an encoder over every split of a dataset."""
    import numpy as np
    import torch

    from polymodal import jobs
    from polymodal.data.features import write_features
    from polymodal.data.sources import open_splits
    from polymodal.nn.encoders import extractor

    splits = open_splits(data, skip_bad=options.skip_bad)
    size = next(iter(splits.values())).images([0]).shape[1]
    encoder = extractor(options.encoder, size).to(options.device)

    @torch.inference_mode()
    def extract(pictures: np.ndarray) -> Any:
        batch = torch.from_numpy(pictures).permute(0, 3, 1, 2).to(options.device)
        return encoder(batch).cpu().numpy()

    write_features(splits, extract, options.out, options.encoder, batch_size=options.batch_size)
    jobs.report_skipped(splits)
    jobs.say(
        f"Features of {sum(map(len, splits.values()))} images are in {options.out}. Next:\n"
        f"  polymodal train vse --data {data} --features {options.out} --run runs/NAME"
    )
