"""A table that is made part by part is the table that is made at once."""

from dataclasses import replace

import pytest

from polymodal.base.errors import PolymodalError
from polymodal.studies.reproduction.joining import by_row, common, joined, with_other_studies
from polymodal.studies.result_files import Results, Row, write


def row(name, seed=0, block=None, **metrics):
    return Row(name=name, data="birds", seed=seed, metrics=metrics, block=block)


def made(rows, command="reproduce", **protocols):
    """Results whose rows have these protocols."""
    protocol = {f"{one.label}, birds": protocols[one.name] for one in rows}
    told = {"hardware": {"gpu": "H200"}, "versions": {"torch": "2"}}
    return Results(study="cub", command=command, protocol=common(protocol), rows=rows, **told)


def test_protocols_that_differ_are_listed_by_row():
    shared = {"data": "scenes", "seed": 0}
    assert common({"a": {**shared}, "b": {**shared, "seed": 1}}) == {"data": "scenes"}
    found = common({"a": {**shared, "similarity": "cosine"}, "b": {**shared, "similarity": "kl"}})
    assert found["by_row"] == {"a": {"similarity": "cosine"}, "b": {"similarity": "kl"}}
    assert by_row(found, ["a", "b"])["b"] == {"data": "scenes", "similarity": "kl"}


def test_parts_join_to_the_whole():
    rows = [row("FC", block="strong"), row("FC", 1, block="strong"), row("PN"), row("DIM")]
    protocols = {
        "FC": {"lr": 1, "side": 64},
        "PN": {"lr": 2, "side": 64},
        "DIM": {"lr": 1, "side": 64},
    }
    whole = made(rows, **protocols)
    order = [one.label for one in rows]
    found = made([rows[3], rows[0]], command="one", **protocols)
    for part in ([rows[2]], [rows[1]]):
        found = joined(found, made(part, command="two", **protocols), order)
    assert found.rows == whole.rows
    assert found.protocol == whole.protocol
    assert found.hardware == whole.hardware
    assert found.command == "one && two"


def test_what_other_studies_measured_joins_the_same_rows(tmp_path):
    table = made([row("FC", zsl_top1=1.0), row("FC", 1, zsl_top1=2.0)], FC={})
    other = made([row("FC", zsl_top1=1.0, tre_ratio=0.5), row("PN", tre_ratio=0.6)], FC={}, PN={})
    write(tmp_path / "tre.json", other)
    found = with_other_studies(table, (("tre", "tre_ratio"), ("parts", "parts_f1")), tmp_path)
    assert [one.metrics for one in found.rows] == [
        {"zsl_top1": 1.0, "tre_ratio": 0.5},
        {"zsl_top1": 2.0},
    ]


def test_a_row_that_is_made_again_takes_the_place_of_the_old_one():
    old, other = row("FC", zsl_top1=1.0), row("PN", zsl_top1=3.0)
    new = replace(old, metrics={"zsl_top1": 2.0})
    found = joined(
        made([old, other], FC={"lr": 1}, PN={"lr": 1}), made([new], FC={"lr": 5}), ["FC"]
    )
    assert found.rows == [new, other]
    assert found.protocol["by_row"] == {"FC, birds": {"lr": 5}, "PN, birds": {"lr": 1}}


def test_files_of_two_studies_do_not_join():
    one = made([row("FC")], FC={})
    with pytest.raises(PolymodalError, match="file is of other, which rows of cub cannot join"):
        joined(replace(one, study="other"), one, ["FC"])
