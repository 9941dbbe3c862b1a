"""The card of a shipped model: how to use it, how it was trained, its figures, its limits."""

from collections.abc import Mapping
from typing import Any

import yaml

from polymodal.training.system import System

USES = {
    "generate": 'model.generate("…", count=8)  # pictures of a text',
    "sample": "model.sample(8)  # pictures and texts from nothing",
    "caption": 'model.caption(["image.png"])  # words for pictures',
    "encode_texts": 'model.encode_texts(["…"])',
    "encode_images": 'model.encode_images(["image.png"])',
    "ground": 'model.ground("image.png", "a red cube")  # where its phrases are',
    "recognise": 'model.recognise(["image.png"])  # the likeliest classes',
}
"""What can be asked of a system that has a method of this name."""


def card(
    name: str,
    system: System,
    settings: Mapping[str, Any],
    metrics: Mapping[str, Any],
    limits: str,
    history: str,
    changes: Mapping[str, Any],
    figures: Mapping[str, str],
) -> str:
    """The page of a model that is shipped from a run of these settings and metrics."""
    uses = "\n".join(line for method, line in USES.items() if hasattr(system, method))
    changed = "".join(f" `{key}` became {value}." for key, value in changes.items())
    more = f"{changed} {history}".rstrip()
    return f"""\
# {name}

A `{settings["system"]}` on `{settings["data"]}` that comes with Polymodal.

```python
import polymodal

model = polymodal.load("{name}")
{uses}
```

## Limits

{limits.strip()}

## How it was trained

By `polymodal train {settings["system"]}` with the settings below, on {machine(metrics)}; the weights are \
those of step {metrics["selected"]["step"]:.0f} ({metrics["protocol"]["selection"]}). To \
ship it, matrices were rounded to int8 numbers with a scale per row.{more}

## Figures
{measured(figures)}
Of the run, before anything was rounded or left out:

{table(scores(metrics["scores"]))}

## Protocol

{as_yaml(metrics["protocol"])}

## Settings

{as_yaml(settings)}
"""


def machine(metrics: Mapping[str, Any]) -> str:
    """What trained a run, in words."""
    hardware, versions = metrics["hardware"], metrics["versions"]
    device = hardware.get("accelerator") or hardware["processor"]
    return f"{device}, torch {versions['torch']}"


def measured(figures: Mapping[str, str]) -> str:
    """What was measured of the model as it is shipped, if anything was."""
    return f"\nAs it is shipped:\n\n{table(figures)}\n" if figures else ""


def scores(found: Mapping[str, Mapping[str, float]]) -> dict[str, str]:
    """A run's scores with their standard errors."""
    told = {}
    for split, figures in found.items():
        for metric, value in figures.items():
            if metric.endswith(("_error", "_spread")):
                continue
            error = figures.get(f"{metric}_error")
            spread = "" if error is None else f" ± {error:.2f}"
            told[f"{metric} on {split}"] = f"{value:.2f}{spread}"
    return told


def table(figures: Mapping[str, str]) -> str:
    """Figures by name."""
    rows = [f"| {what} | {value} |" for what, value in figures.items()]
    return "\n".join(["| figure | value |", "|---|---|", *rows])


def as_yaml(settings: Mapping[str, Any]) -> str:
    """Settings as a block of YAML."""
    text = yaml.safe_dump(dict(settings), sort_keys=False, allow_unicode=True).strip()
    return f"```yaml\n{text}\n```"
