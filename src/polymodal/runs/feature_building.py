"""Features of a dataset computed once: where data and a frozen image encoder meet."""

from pathlib import Path
from typing import Any

import torch

from polymodal.base.errors import PolymodalError
from polymodal.base.hardware import usable
from polymodal.base.progress import say
from polymodal.data.features import write_features
from polymodal.data.records import Images
from polymodal.data.sources import open_splits, report_skipped
from polymodal.nn.named_encoders import extractor


def compute_features(
    data: str,
    out: Path,
    encoder: str,
    *,
    batch_size: int = 32,
    device: str = "cpu",
    skip_bad: bool = False,
    wait: bool = False,
) -> None:
    """Run a frozen image encoder once over every split of a dataset."""
    if batch_size < 1:
        raise PolymodalError(f"batch_size must be at least 1, not {batch_size}.")
    place = usable(device)
    splits = open_splits(data, skip_bad=skip_bad)
    report_skipped(splits)
    size = next(iter(splits.values())).images([0]).shape[1]
    network = extractor(encoder, size).to(place)

    @torch.inference_mode()
    def extract(pictures: Images) -> Any:
        batch = torch.from_numpy(pictures).permute(0, 3, 1, 2).to(place)
        return network(batch).cpu().numpy()

    write_features(splits, extract, out, encoder, batch_size=batch_size, wait=wait)
    say(f"Features of {sum(map(len, splits.values()))} images are in {out}.")
