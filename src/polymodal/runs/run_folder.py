"""The run directory: a config, what was learned from the data, weights, scores, a card, checkpoints.

config.yaml         the command, complete: give it to `polymodal train SYSTEM --config` again
learned.json        what the system took from the training split (its vocabulary, …)
model.safetensors   the weights of the step that was best on validation
hashes.json         the SHA-256 of these two, compared whenever they are read
metrics.json        scores with their protocol, and the learning curves
card.md             the same for people
checkpoints/        the newest two, to go on from
"""

import json
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from polymodal.base.errors import PolymodalError
from polymodal.base.files import json_text, write_json, write_text
from polymodal.base.hashed_files import COPY_AGAIN, check_hash, read_json, write_hashed
from polymodal.base.progress import say
from polymodal.runs.run_settings import ADVICE, read_config

if TYPE_CHECKING:  # torch is slow to come
    from torch import nn


@dataclass(frozen=True)
class Run:
    """A folder that a training leaves."""

    folder: Path

    def begin(self, config: dict[str, Any], operational: frozenset[str]) -> None:
        """Write the config; a run with something to go on from must be the same but for speed."""
        path = self.folder / "config.yaml"
        if self.begun:
            differing = differences(self.config, config, operational)
            if differing:
                raise PolymodalError(
                    f"{self.folder} was begun with other settings:\n  "
                    + "\n  ".join(differing)
                    + "\nGive the same settings to go on with it, or another --run."
                )
        elif path.exists():
            self.discard()
        write_text(path, yaml.safe_dump(config, sort_keys=False, allow_unicode=True))

    def discard(self) -> None:
        """Delete the weights of an attempt that left no checkpoint: they are not those of the next."""
        path = self.folder / "model.safetensors"
        if path.exists():
            say(f"{self.folder} begins anew; the weights that an earlier attempt left are deleted.")
            path.unlink()

    @property
    def config(self) -> dict[str, Any]:
        """What the run was asked for."""
        path = self.folder / "config.yaml"
        if path.exists():
            return read_config(path)
        if self.begun:
            raise PolymodalError(f"{self.folder} has lost its config.yaml. {ADVICE}")
        raise PolymodalError(
            f"{self.folder} is no run: it has no config.yaml. "
            "Make one with `polymodal train SYSTEM --data … --run DIR`."
        )

    @property
    def learned(self) -> dict[str, Any]:
        """What the system took from its training split."""
        path = self.folder / "learned.json"
        found = read_json(path)
        check_hash(path)
        return found

    @property
    def metrics(self) -> dict[str, Any]:
        """Scores, protocol and learning curves of a finished run."""
        path = self.folder / "metrics.json"
        found = read_json(path)
        if not isinstance(found.get("scores"), dict):
            raise PolymodalError(f"{path} is damaged: it has no scores. {COPY_AGAIN}")
        return found

    def learn(self, learned: dict[str, Any]) -> None:
        """Keep what a system took from its training split, which must be the same when it goes on."""
        path = self.folder / "learned.json"
        if self.begun and path.exists() and self.learned != json.loads(json.dumps(learned)):
            raise PolymodalError(
                f"The training data of {self.folder} are no longer what it was begun with. "
                "Bring them back to go on with it, or give another --run."
            )
        write_hashed(path, json_text(learned).encode())

    @property
    def begun(self) -> bool:
        """Whether there is something to go on from."""
        return self.finished or any(self.folder.glob("checkpoints/*.ckpt"))

    @property
    def finished(self) -> bool:
        return (self.folder / "metrics.json").exists()

    def tidy(self) -> None:
        """Leave out the checkpoints of a finished run, which are many times its weights."""
        if self.finished:
            shutil.rmtree(self.folder / "checkpoints", ignore_errors=True)

    def keep(self, system: "nn.Module") -> None:
        """Save a system's weights as the best so far."""
        from safetensors.torch import save

        from polymodal.nn.finite import check_finite

        weights = {k: v.detach().cpu().contiguous() for k, v in system.state_dict().items()}
        path = self.folder / "model.safetensors"
        check_finite(weights, path)
        write_hashed(path, save(weights, metadata={"format": "pt"}))

    def restore(self, system: "nn.Module") -> None:
        """Give a system the run's best weights."""
        try:
            system.load_state_dict(self.weights())
        except RuntimeError as error:
            raise PolymodalError(
                f"{self.folder} was trained with another version of the model, whose weights do not fit "
                f"this one: {str(error).splitlines()[-1].strip()} Train it again."
            ) from error

    def weights(self) -> dict[str, Any]:
        """The best weights by name."""
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        from polymodal.nn.finite import check_finite
        from polymodal.runs.packed_weights import unpack

        path = self.folder / "model.safetensors"
        if not path.exists():
            _ = self.config  # which says so where there is no run at all
            raise PolymodalError(
                f"{self.folder} has no weights yet: no validation of its training had a score. "
                "Give the same `polymodal train` command again to go on with it, or, if it diverged, "
                "with a smaller --lr."
            )
        check_hash(path)
        try:
            found = unpack(load_file(path))
        except SafetensorError as error:
            raise PolymodalError(f"{path} is damaged ({error}). {COPY_AGAIN}") from error
        check_finite(found, path)
        return found

    def finish(self, metrics: dict[str, Any]) -> None:
        """Write the scores and the card."""
        write_json(self.folder / "metrics.json", metrics)
        write_text(self.folder / "card.md", card(self.config, metrics))


def differences(
    before: dict[str, Any],
    now: dict[str, Any],
    ignored: frozenset[str] = frozenset(),
    under: str = "",
) -> list[str]:
    """The settings in which two configs differ, each as 'name: before, now'.

    >>> differences({"lr": 1, "data": "scenes"}, {"lr": 2, "data": "scenes"})
    ['lr: 1 before, 2 now']
    """
    found = []
    for name in sorted(before.keys() | now.keys()):
        a, b = before.get(name), now.get(name)
        if isinstance(a, dict) and isinstance(b, dict):
            found += differences(a, b, ignored, f"{under}{name}.")
        elif a != b and name not in ignored:
            found.append(f"{under}{name}: {a} before, {b} now")
    return found


def card(config: dict[str, Any], metrics: dict[str, Any]) -> str:
    """A page for whoever finds the run: what it is, how it scored, how to use it."""
    lines = [
        f"# {config['system']} on {config['data']}",
        "",
        f"Made on {datetime.now(UTC):%Y-%m-%d} by `{metrics['command']}`.",
        "",
        "```python",
        "import polymodal",
        "",
        'model = polymodal.load("this folder")',
        "```",
        "",
    ]
    for split, scores in metrics["scores"].items():
        lines += [f"## Scores on {split}", "", "| metric | value |", "|---|---|"]
        lines += [f"| {name} | {value:.2f} |" for name, value in scores.items()] + [""]
    for heading, settings in (("Protocol", metrics["protocol"]), ("Settings", config)):
        text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True).strip()
        lines += [f"## {heading}", "", "```yaml", text, "```", ""]
    return "\n".join(lines)
