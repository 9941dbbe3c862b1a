"""Result files: one schema for every system's studies, so that any figure can be reproduced.

results/<system>/<study>.json = {"study", "command", "hardware", "versions", "protocol": {…},
    "paper": [{"name", "metrics"}], "rows": [{"name", "data", "seed", "metrics"}]}

Rows of a table with several blocks have a "block"; what is computed from all rows together is in "findings".
"""

import json
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from polymodal.base.errors import PolymodalError, unknown
from polymodal.base.files import write_json, write_text
from polymodal.base.tables import Table

Metrics = Mapping[str, float]
PARTS = ("study", "command", "hardware", "versions", "protocol", "paper", "rows")
NEEDED = f"It needs {', '.join(PARTS[:-1])} and {PARTS[-1]}."


@dataclass(frozen=True, kw_only=True)
class Row:
    """The scores of one seed of one recipe on one dataset."""

    name: str
    data: str
    seed: int
    metrics: Metrics
    block: str | None = None
    """A group of rows whose protocol differs from that of the others."""

    @property
    def label(self) -> str:
        """Its name, with its block."""
        return labelled(self.name, self.block)


@dataclass(frozen=True, kw_only=True)
class PaperRow:
    """What the seed document says of a recipe."""

    name: str
    metrics: Metrics


@dataclass(frozen=True, kw_only=True)
class Results:
    """A study's figures with all that is needed to reproduce them."""

    study: str
    command: str
    hardware: Mapping[str, Any]
    versions: Mapping[str, str]
    protocol: Mapping[str, Any]
    rows: Sequence[Row]
    paper: Sequence[PaperRow] = field(default=())
    findings: Mapping[str, Metrics] = field(default_factory=dict)
    """What is computed from all rows together, such as a correlation."""

    @property
    def title(self) -> str:
        """The study and its data."""
        data = dict.fromkeys(row.data for row in self.rows)
        return " on ".join([self.study, " and ".join(data)] if data else [self.study])


def labelled(name: str, block: str | None) -> str:
    """A row's name, with its block.

    >>> labelled("FC", "strong"), labelled("FC", None)
    ('FC (strong)', 'FC')
    """
    return f"{name} ({block})" if block else name


def write(path: Path, results: Results) -> None:
    """Write a result file atomically; fields that say nothing are left out."""
    content = asdict(results)
    content["rows"] = [{k: v for k, v in row.items() if v is not None} for row in content["rows"]]
    if not results.findings:
        del content["findings"]
    write_json(Path(path), content)


def read_results(path: Path) -> Results:
    """Read a result file, or say which part of it is not as it should be."""
    path = Path(path)
    try:
        content = json.loads(path.read_text("utf-8"))
        check_results(path, content)
        rows = [Row(**row) for row in content.pop("rows")]
        paper = [PaperRow(**row) for row in content.pop("paper")]
        return Results(rows=rows, paper=paper, **content)
    except FileNotFoundError as error:
        raise PolymodalError(f"There is no result file at {path}.") from error
    except (json.JSONDecodeError, TypeError) as error:
        raise PolymodalError(f"{path} is no result file: {error}. {NEEDED}") from error


def check_results(path: Path, content: Any) -> None:
    """Refuse what lacks a part of a result file; a run's own metrics are shown elsewhere."""
    if not isinstance(content, dict):
        raise PolymodalError(f"{path} is no result file: it holds no named parts. {NEEDED}")
    lacking = [part for part in PARTS if part not in content]
    if lacking and {"scores", "curves"} <= content.keys():
        raise PolymodalError(
            f"{path} is no result file: it holds the scores of one run, which "
            f"`polymodal evaluate {path.parent}` prints."
        )
    if lacking:
        raise PolymodalError(f"{path} is no result file: it lacks {', '.join(lacking)}. {NEEDED}")


def summary(
    results: Results, metrics: Sequence[str] | None = None, *, together: bool = False
) -> Table:
    """Mean ± spread over seeds for each recipe, the paper's figures first; or, `together`, each of them
    directly above our rows of its name.

    The dataset has a column of its own only where there are several.
    """
    known = list(dict.fromkeys(name for row in results.rows for name in row.metrics))
    for name in metrics or ():
        if name not in known:
            raise unknown(f"metric of {results.study}:", name, known)
    shown = list(metrics or known)
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in results.rows:
        groups.setdefault((row.label, row.data), []).append(row)
    several = len({row.data for row in results.rows}) > 1
    no_data = ["–"] if several else []
    table = [
        (p.name, [f"paper: {p.name}", *no_data, "–", *cells([p.metrics], shown)])
        for p in results.paper
    ]
    for (label, data), rows in groups.items():
        data_cell = [data] if several else []
        values = cells([row.metrics for row in rows], shown)
        table.append((rows[0].name, [label, *data_cell, str(len(rows)), *values]))
    if together:
        names = list(dict.fromkeys(row.name for row in results.rows))
        table.sort(key=lambda line: names.index(line[0]) if line[0] in names else -1)
    return Table(
        header=["name", *(["data"] if several else []), "seeds", *shown],
        rows=[line for _, line in table],
    )


def finding_lines(findings: Mapping[str, Metrics]) -> list[str]:
    """A line for each finding.

    >>> finding_lines({"strong": {"r": -0.9, "rows": 24}})
    ['strong: r -0.9, rows 24']
    """
    return [
        f"{what}: " + ", ".join(f"{key} {value:.3g}" for key, value in figures.items())
        for what, figures in findings.items()
    ]


def beside_paper(results: Results, metric: str) -> Table:
    """One metric of every row, the paper's figure beside ours, a column a block."""
    paper = {row.name: row.metrics for row in results.paper}
    blocks = list(dict.fromkeys(row.block or "ours" for row in results.rows))
    groups: dict[str, dict[str, list[Metrics]]] = {}
    for row in results.rows:
        columns = groups.setdefault(row.name, {block: [] for block in blocks})
        columns[row.block or "ours"].append(row.metrics)
    table = [
        [name, *(cells(runs, [metric])[0] for runs in ([paper.get(name, {})], *by_block.values()))]
        for name, by_block in groups.items()
    ]
    return Table(header=["name", "paper", *blocks], rows=table)


def only(results: Results, labels: Collection[str], data: Collection[str]) -> Results:
    """The rows of some labels on some datasets, and what the paper says of them."""
    rows = [row for row in results.rows if row.label in labels and row.data in data]
    names = {row.name for row in rows}
    return replace(results, rows=rows, paper=[p for p in results.paper if p.name in names])


def on(results: Results, data: str) -> Results:
    """The rows of a study on one dataset, by how its name begins."""
    rows = [row for row in results.rows if row.data.startswith(data)]
    if not rows:
        known = dict.fromkeys(row.data for row in results.rows)
        raise unknown(f"dataset of {results.study}:", data, known)
    return replace(results, rows=rows)


def cells(runs: Sequence[Metrics], names: Sequence[str]) -> list[str]:
    """Each metric as 'mean ± standard deviation', or its one value, or a dash.

    >>> cells([{"rsum": 10.0}, {"rsum": 12.0}], ["rsum", "r1"])
    ['11.00 ± 1.41', '–']
    """
    shown = []
    for name in names:
        values = [metrics[name] for metrics in runs if name in metrics]
        if not values:
            shown.append("–")
        elif len(values) == 1:
            shown.append(f"{values[0]:.2f}")
        else:
            shown.append(f"{statistics.fmean(values):.2f} ± {statistics.stdev(values):.2f}")
    return shown


def asked_for(results: Results, words: Sequence[str]) -> Table:
    """The table that a page asks for: some metrics, on some dataset; or one beside the paper's."""
    settings = dict(word.split("=", 1) for word in words if "=" in word)
    metrics = [word for word in words if "=" not in word]
    for word in settings:
        if word not in ("data", "beside"):
            raise unknown(f"word for a table of {results.study}:", word, ["data", "beside"])
    if "data" in settings:
        results = on(results, settings["data"])
    return (
        beside_paper(results, settings["beside"])
        if "beside" in settings
        else summary(results, metrics or None)
    )


def render_into(page: Path, root: Path) -> int:
    """Rewrite every table of a page that stands between these two lines; give their number.

    <!-- results: results/vse/coco.json i2t_r1 t2i_r1 rsum -->
    <!-- end -->

    A word `data=scenes` among the metrics keeps the rows on that dataset; `beside=rsum` in their place
    puts the paper's figures beside ours, a column a block.
    """
    if not page.is_file():
        raise PolymodalError(f"There is no page at {page}.")
    lines = page.read_text("utf-8").split("\n")
    kept: list[str] = []
    inside, count = False, 0
    for number, line in enumerate(lines, 1):
        if line.startswith("<!-- results: "):
            if inside:
                raise PolymodalError(
                    f"{page}, line {number}: the table before has no '<!-- end -->'."
                )
            file, *words = line.removeprefix("<!-- results: ").removesuffix(" -->").split()
            kept += [line, asked_for(read_results(root / file), words).markdown()]
            inside, count = True, count + 1
        elif line == "<!-- end -->":
            inside = False
            kept.append(line)
        elif not inside:
            kept.append(line)
    if inside:
        raise PolymodalError(f"{page}: the last table has no '<!-- end -->'.")
    text = "\n".join(kept)
    if text != page.read_text("utf-8"):
        write_text(page, text)
    return count
