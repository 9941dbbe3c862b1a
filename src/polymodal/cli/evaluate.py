"""Compute the scores of a run on a split of its own data, or of other data."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any


@dataclass(frozen=True, kw_only=True)
class Evaluate:
    """Options of the evaluation."""

    data: str | None = None
    """Other data than the run's own, named as in `polymodal train`."""
    features: Path | None = None
    """Features of these data."""
    split: str | None = None
    """train, val, test, or another split of the data: composition for a world with held-out
    combinations, trainval and test_seen for zero-shot learning. By default test, or val if there
    is no test split."""
    skip_bad: bool = False
    """Skip bad records of a folder."""
    device: str = "cpu"
    """Device to compute on, for instance cuda."""
    out: Path | None = None
    """File for the scores: .json with their protocol, or .csv with one row per split and metric."""


def main(arguments: list[str]) -> None:
    import tyro

    def evaluate(
        run: Annotated[Path, tyro.conf.Positional],
        options: Annotated[Evaluate, tyro.conf.arg(name="")],
    ) -> None:
        """Compute the scores of a run on a split of its own data, or of other data.

        Args:
            run: Run directory, or name of a shipped model.
            options: Options.
        """
        from polymodal.base.progress import say
        from polymodal.base.tables import scores_table
        from polymodal.runs import jobs

        asked = asdict(options)
        out = asked.pop("out")
        check_ending(out)
        found = jobs.evaluate(run, **asked)
        columns = found["scores"] | chance_column(found)
        scores_table(columns).print(f"{run} on {found['protocol']['data']}")
        for remark in [*found["symptoms"], *remarks(run, found)]:
            say(remark)
        if out:
            write_scores(out, found)
            say(f"Wrote {out}.")

    tyro.cli(evaluate, args=arguments, prog="polymodal evaluate")


def check_ending(out: Path | None) -> None:
    """Refuse a file that is neither JSON nor CSV, before anything is computed for it."""
    from polymodal.base.errors import PolymodalError

    if out and out.suffix not in (".json", ".csv"):
        raise PolymodalError(f"Scores are written as .json or .csv, but --out is {out}.")


def write_scores(out: Path, found: dict[str, Any]) -> None:
    """Write all that was found as JSON, or the scores alone as CSV."""
    import csv
    import io

    from polymodal.base.files import write_json, write_text

    if out.suffix == ".json":
        write_json(out, found)
        return
    content = io.StringIO()
    rows = csv.writer(content, lineterminator="\n")
    rows.writerow(["split", "metric", "value"])
    for split, scores in found["scores"].items():
        rows.writerows([split, name, repr(value)] for name, value in scores.items())
    write_text(out, content.getvalue())


def chance_column(found: dict[str, Any]) -> dict[str, dict[str, float]]:
    """What guessing would score, as one more column, where the captions of a split were counted."""
    from polymodal.metrics.recall import chance

    ((split, scores),) = found["scores"].items()
    counts = found["protocol"]["splits"][split]
    if not {"images", "captions"} <= counts.keys() or "rsum" not in scores:
        return {}
    each = round(counts["captions"] / counts["images"])
    guessed = chance(counts["images"], each)
    folds = chance(found["protocol"]["fold"], each)
    guessed |= {f"fold_{name}": value for name, value in folds.items()}
    return {"chance": {name: value for name, value in guessed.items() if name in scores}}


def remarks(run: Path, found: dict[str, Any]) -> list[str]:
    """In what the data are not those that the model was trained on, in plain words."""
    from polymodal.runs import shipped
    from polymodal.runs.run_folder import Run

    told = []
    ((split, scores),) = found["scores"].items()
    unknown = scores.get("unknown_words", 0.0)
    if unknown:
        told.append(
            f"{unknown:.1f} % of the words in the captions of {split} are not in the vocabulary of "
            "the training split: the model reads each as <unk>."
        )
    size = Run(shipped.find(run)).learned.get("size")
    now = found["protocol"].get("pictures", "").partition(":")[0]
    if size and now and now != f"{size}×{size}":
        told.append(
            f"The images are {now}, but the model was trained on {size}×{size}, so objects "
            f"appear larger or smaller. Add ',size={size}' to --data to evaluate at the training size."
        )
    return told
