"""Compute the scores of a run on a split of its own data, or of other data."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional

from polymodal.cli import Device, OtherData, SkipBad, TheirFeatures, TheirRegions, parse_options

if TYPE_CHECKING:
    from polymodal.base.tables import Table


@dataclass(frozen=True, kw_only=True)
class Evaluate:
    """Compute the scores of a run on a split of its own data, or of other data."""

    run: Annotated[Path, Positional]
    """Run directory, or name of a shipped model."""
    data: OtherData = None
    features: TheirFeatures = None
    regions: TheirRegions = None
    split: str | None = None
    """train, val, test, or another split of the data: composition for a world with held-out
    combinations, trainval and test_seen for zero-shot learning. By default test, or val if there
    is no test split."""
    skip_bad: SkipBad = False
    device: Device = "cpu"
    modalities: str = "all"
    """Of a segmentation: all, for a row a subset of its modalities, or one subset, such as flair or
    flair+t1."""
    heatmap: Path | None = None
    """PNG file for Dice of each subset and class in colour, of a segmentation."""
    out: Path | None = None
    """File for the scores: .json with their protocol, or .csv with one row per split and metric."""


def main(arguments: list[str]) -> None:
    from polymodal.base.progress import say
    from polymodal.base.tables import scores_table
    from polymodal.runs import jobs

    options = dict(vars(parse_options(Evaluate, "evaluate", arguments)))
    run, out, heatmap = options["run"], options.pop("out"), options.pop("heatmap")
    check_out(out)
    check_heatmap(heatmap, run)
    evaluation = jobs.evaluate(**options)
    if heatmap:
        write_heatmap(heatmap, run, evaluation)
        say(f"Wrote {heatmap}.")
    if out:
        write_scores(out, evaluation)
        say(f"Wrote {out}.")
    title = f"{run} on {evaluation['protocol']['data']}"
    if "modalities" in evaluation["protocol"]:
        of_subsets(evaluation).print(title, turn=False)
    else:
        columns = evaluation["scores"] | chance_column(evaluation)
        scores_table(columns).print(title)
    for remark in [*evaluation["symptoms"], *remarks(run, evaluation)]:
        say(remark)


def check_out(out: Path | None) -> None:
    """Refuse a file that cannot be written, or is neither JSON nor CSV, before anything is computed."""
    from polymodal.base.errors import PolymodalError
    from polymodal.base.files import check_file

    if out:
        check_file(out)
        if out.suffix not in (".json", ".csv"):
            raise PolymodalError(f"Scores are written as .json or .csv, but --out is {out}.")


def check_heatmap(heatmap: Path | None, run: Path) -> None:
    """Refuse a heat map that cannot be written, or of a run that segments nothing."""
    from polymodal.base.errors import PolymodalError
    from polymodal.base.files import check_file
    from polymodal.runs import shipped
    from polymodal.runs.run_folder import Run

    if not heatmap:
        return
    check_file(heatmap)
    if heatmap.suffix != ".png":
        raise PolymodalError(f"The heat map is a .png, but --heatmap is {heatmap}.")
    opened = Run(shipped.find(run))
    if not {"modalities", "classes"} <= opened.learned.keys():
        raise PolymodalError(
            f"{run} is a run of {opened.config['system']}, which segments nothing by subsets of "
            "modalities. Leave out --heatmap."
        )


def write_heatmap(heatmap: Path, run: Path, evaluation: dict[str, Any]) -> None:
    """Write Dice of each subset and class in colour."""
    from polymodal.base.files import write_bytes
    from polymodal.views.subset_heatmap import subset_heatmap

    ((split, scores),) = evaluation["scores"].items()
    names, classes = (evaluation["protocol"][k].split(", ") for k in ("modalities", "classes"))
    title = f"{run}, {split} of {evaluation['protocol']['data']}"
    write_bytes(heatmap, subset_heatmap(scores, names, classes, title))


def write_scores(out: Path, evaluation: dict[str, Any]) -> None:
    """Write the whole evaluation as JSON, or the scores alone as CSV."""
    import csv
    import io

    from polymodal.base.files import write_json, write_text

    if out.suffix == ".json":
        write_json(out, evaluation)
        return
    content = io.StringIO()
    rows = csv.writer(content, lineterminator="\n")
    rows.writerow(["split", "metric", "value"])
    for split, scores in evaluation["scores"].items():
        rows.writerows([split, name, repr(value)] for name, value in scores.items())
    write_text(out, content.getvalue())


def of_subsets(evaluation: dict[str, Any]) -> "Table":
    """The scores of a segmentation, a row for each subset of its modalities."""
    from polymodal.views.subset_table import subset_table

    ((_, scores),) = evaluation["scores"].items()
    names, classes = (evaluation["protocol"][k].split(", ") for k in ("modalities", "classes"))
    return subset_table(scores, names, classes)


def chance_column(evaluation: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Scores at chance level, as one more column; empty unless images and captions were counted."""
    from polymodal.metrics.recall import chance

    ((split, scores),) = evaluation["scores"].items()
    counts = evaluation["protocol"]["splits"][split]
    if not {"images", "captions"} <= counts.keys() or "rsum" not in scores:
        return {}
    each = round(counts["captions"] / counts["images"])
    guessed = chance(counts["images"], each)
    folds = chance(evaluation["protocol"]["fold"], each)
    guessed |= {f"fold_{name}": value for name, value in folds.items()}
    return {"chance": {name: value for name, value in guessed.items() if name in scores}}


def remarks(run: Path, evaluation: dict[str, Any]) -> list[str]:
    """How the data differ from those that the model was trained on."""
    from polymodal.runs import shipped
    from polymodal.runs.run_folder import Run

    differences = []
    ((split, scores),) = evaluation["scores"].items()
    unknown = scores.get("unknown_words", 0.0)
    if unknown:
        differences.append(
            f"{unknown:.1f} % of the words in the captions of {split} are not in the vocabulary of "
            "the training split: the model reads each as <unk>."
        )
    size = Run(shipped.find(run)).learned.get("size")
    now = evaluation["protocol"].get("pictures", "").partition(":")[0]
    if size and now and now != f"{size}×{size}":
        differences.append(
            f"The images are {now}, but the model was trained on {size}×{size}, so objects "
            f"appear larger or smaller. Add ',size={size}' to --data to evaluate at the training size."
        )
    return differences
