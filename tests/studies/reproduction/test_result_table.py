"""Two commands that write one result file keep the rows of both."""

from pathlib import Path

from polymodal.base.locks import updating
from polymodal.studies.reproduction.result_table import ResultTable
from polymodal.studies.reproduction.row_measuring import MeasuredRow
from polymodal.studies.result_files import Results, Row, read_results, write
from polymodal.studies.study import study_named
from toys import python

STUDY = "vse/negatives"


def measured(name: str, seed: int = 0) -> MeasuredRow:
    row = Row(name=name, data="scenes", seed=seed, metrics={"rsum": 1.0 + seed})
    parts = {part: {"same": 1} for part in ("hardware", "versions", "protocol")}
    return MeasuredRow(row=row, metrics=parts)


def table(path: Path, *, partial: bool) -> ResultTable:
    """The table of a command that begins now."""
    earlier = read_results(path) if path.exists() else None
    order = ["hardest", "sum", "semi-hard"]
    return ResultTable(
        name=STUDY,
        study=study_named(STUDY),
        path=path,
        order=order,
        partial=partial,
        earlier=earlier,
    )


def names(path: Path) -> list[tuple[str, int]]:
    return [(row.name, row.seed) for row in read_results(path).rows]


def test_rows_of_two_commands_join_as_they_come(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    one, two = table(path, partial=True), table(path, partial=True)
    one.add(measured("sum"))
    two.add(measured("hardest"))
    one.add(measured("sum", 1))
    one.conclude(one.rows)
    two.conclude(two.rows)
    assert names(path) == [("hardest", 0), ("sum", 0), ("sum", 1)]


def test_a_whole_table_replaces_earlier_rows_but_not_those_written_meanwhile(
    tmp_path: Path,
) -> None:
    path = tmp_path / "table.json"
    table(path, partial=False).conclude([measured("semi-hard")])
    one, two = table(path, partial=False), table(path, partial=False)
    one.conclude([measured("hardest")])
    two.conclude([measured("hardest", 1)])
    assert names(path) == [("hardest", 0), ("hardest", 1)]


ADD = """
import sys
from pathlib import Path
from test_result_table import measured, table
rows = table(Path(sys.argv[1]), partial=True)
for seed in range(10):
    rows.add(measured(sys.argv[2], seed))
"""


def test_two_processes_lose_no_row(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    tests = Path(__file__).parents[2]
    paths = f"import sys; sys.path[:0] = {[str(tests), str(Path(__file__).parent)]}"
    processes = [python("-c", paths + ADD, str(path), name) for name in ("sum", "hardest")]
    for process in processes:
        printed, _ = process.communicate()
        assert process.returncode == 0, printed
    assert sorted(names(path)) == sorted((n, s) for n in ("sum", "hardest") for s in range(10))


def test_a_file_that_is_being_written_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    with updating(path):
        process = python("-c", "import sys; from pathlib import Path\n"
                         "from polymodal.base.locks import updating\n"
                         "with updating(Path(sys.argv[1])): print('mine')", str(path))  # fmt: skip
        assert process.stdout is not None
        assert "Waiting for it to end" in process.stdout.readline()
        write(
            path, Results(study=STUDY, command="c", hardware={}, versions={}, protocol={}, rows=[])
        )
    assert process.communicate()[0].endswith("mine\n")
