"""Layouts of a run's own data, of which pictures can be made."""

from pathlib import Path
from typing import Any

from polymodal.base.errors import unknown
from polymodal.data.layout_record import Layout
from polymodal.data.layouts import layouts_of
from polymodal.runs import shipped
from polymodal.runs.jobs import open_data
from polymodal.runs.run_folder import Run


def run_layouts(system: Any, run: Path, split: str, count: int) -> dict[str, Layout]:
    """The first layouts of a split that the model's rules keep, by the ids of their images."""
    config: dict[str, Any] = Run(shipped.find(run)).config
    opened = open_data(config["data"], skip_bad=config["skip_bad"])
    if split not in opened:
        raise unknown(f"split of {config['data']}:", split, opened)
    chosen = layouts_of(opened[split], system.classes, system.config.rules)
    return {
        opened[split].ids[item]: chosen.rows.layout(row, system.classes)
        for row, item in enumerate(chosen.items[:count].tolist())
    }
