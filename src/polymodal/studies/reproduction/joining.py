"""Protocols of rows, shared and by row; and rows that join those of an earlier result file."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from polymodal.base.errors import PolymodalError
from polymodal.studies.result_files import Results, read_results


def common(protocols: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What the protocols of all rows share; what differs is listed by row."""
    every = list(protocols.values())
    shared = {k: v for k, v in every[0].items() if all(p.get(k) == v for p in every)}
    shared.pop("seed", None)
    differing = {
        name: {k: v for k, v in protocol.items() if k not in shared and k != "seed"}
        for name, protocol in protocols.items()
    }
    return {**shared, **({"by_row": differing} if any(differing.values()) else {})}


def by_row(shared: Mapping[str, Any], rows: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The protocol of each row: the inverse of `common`.

    >>> by_row({"data": "birds", "by_row": {"a": {"lr": 1}, "b": {"lr": 2}}}, ["a", "b"])
    {'a': {'data': 'birds', 'lr': 1}, 'b': {'data': 'birds', 'lr': 2}}
    """
    whole = {k: v for k, v in shared.items() if k != "by_row"}
    return {row: {**whole, **shared.get("by_row", {}).get(row, {})} for row in rows}


def with_other_studies(
    results: Results, sources: Sequence[tuple[str, str]], folder: Path
) -> Results:
    """Results with metrics that other studies measured of the same rows, seeds and data, from their result
    files in the same folder."""
    rows = list(results.rows)
    for study, metric in sources:
        path = folder / f"{study}.json"
        if path.exists():
            values = {(r.label, r.data, r.seed): r.metrics[metric] for r in read_results(path).rows}
            for k, row in enumerate(rows):
                value = values.get((row.label, row.data, row.seed))
                if value is not None:
                    rows[k] = replace(row, metrics={**row.metrics, metric: value})
    return replace(results, rows=rows)


def joined(earlier: Results, now: Results, order: Sequence[str]) -> Results:
    """Rows of an earlier file and those measured now, in the order of their labels; where both have the
    same row, seed and data, the new one is kept."""
    if earlier.study != now.study:
        raise PolymodalError(
            f"The result file is of {earlier.study}, which rows of {now.study} cannot join. "
            "Give another --out."
        )
    rows = {(row.label, row.data, row.seed): row for row in (*earlier.rows, *now.rows)}
    places = {label: place for place, label in enumerate(order)}
    ordered = sorted(
        rows.values(), key=lambda r: (places.get(r.label, len(places)), r.data, r.seed)
    )

    def both(part: str) -> dict[str, Any]:
        protocols: dict[str, dict[str, Any]] = {}
        for results in (earlier, now):
            labels = [f"{row.label}, {row.data}" for row in results.rows]
            protocols |= by_row(getattr(results, part), labels)
        return common(protocols)

    commands = dict.fromkeys([*earlier.command.split(" && "), now.command])
    return replace(
        now,
        command=" && ".join(commands),
        hardware=both("hardware"),
        versions=both("versions"),
        protocol=both("protocol"),
        rows=ordered,
    )
