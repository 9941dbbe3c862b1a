"""Captions of a run's own data grounded in their images."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from polymodal.base.errors import unknown
from polymodal.runs import shipped
from polymodal.runs.jobs import open_data
from polymodal.runs.run_folder import Run
from polymodal.systems.grounding.grounded import Grounded
from polymodal.systems.grounding.grounding_system import Grounding

Example = tuple[str, np.ndarray, Grounded]
"""The id of an image, its pixels, and a caption of it with its phrases."""


def grounded_examples(
    system: Grounding, run: Path, split: str, count: int, first: int
) -> Iterator[Example]:
    """The first images of a split, each with its caption of most phrases, among the proposals that the
    model is scored on."""
    config: dict[str, Any] = Run(shipped.find(run)).config
    regions = config.get("regions")
    opened = open_data(
        config["data"], regions=regions and Path(regions), skip_bad=config["skip_bad"]
    )
    if split not in opened:
        raise unknown(f"split of {config['data']}:", split, opened)
    chosen = opened[split].take(range(min(count, len(opened[split]))))
    for image in range(len(chosen)):
        caption = max(chosen.captions(image), key=lambda said: len(said.phrases))
        answer = system.ground_record(chosen, image, caption, first)
        yield chosen.ids[image], chosen.images([image])[0], answer
