"""How far one item goes through the package: the files and rooms that a command passes.

    python benchmarks/journeys.py [--before REVISION] [--size] [--calls] [--json results.json]

Three commands are traced, each in a process of its own that has imported the whole package before: a
small training, a text asked of an index of that run, and the diagnosis of a small run. With `--before`
the package of another revision is traced too: commands are the same in all.

- A file is passed when a function of it runs, generated ones (`__init__` of a dataclass) too. Functions
  that Numba compiled run out of sight.
- A room is the first part of a module's name within the package.
- A call goes from the nearest function of the package on the stack, whatever other libraries lie
  between; a generator is called by whoever asks it for its next value. Threads are traced too; what
  runs first in a thread has no caller.
- A door is a pair of rooms of which the first calls the second: A → B and B → A are two.
- A back-and-forth is a pair of rooms of which each calls the other, be it by a callback. A ring of three
  rooms is none, though it reads no better.
"""

import argparse
import ast
import importlib
import io
import json
import os
import shlex
import subprocess
import sys
import tarfile
import tempfile
import threading
import tokenize
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console
from rich.table import Table

# nothing of the package here: a process that traces imports whichever version lies on its path
ROOT = Path(__file__).parents[1]
PACKAGE = "polymodal"
CHILD = "import journeys, sys; journeys.trace_into(*sys.argv[1:])"

SCENES = "scenes,size=32,train=32,val=8,test=8"
BIRDS = "birds,size=64,train=70,val=20,test_seen=45,test=45"
STEPS = "--batch-size 8 --max-steps 4 --val-every 2 --accelerator cpu"
SMALL = "--convnet-width 8 --embed-dim 8 --hidden 8"

JOURNEYS = {
    "train": f"train gaussian --data {SCENES} {SMALL} {STEPS} --run runs/gaussian",
    "search": 'search index "a red cube" -k 3',
    "diagnose": f"diagnose runs/fc --data {BIRDS} --pairs 50 --steps 5 --out report",
}
"""The commands that are traced, in a folder of their own."""

BEFORE = {
    "search": "index runs/gaussian --split train --out index",
    "diagnose": f"train fc --data {BIRDS} --slim 8 --dim 16 {STEPS} --run runs/fc",
}
"""What must be there for them, made unseen; the run of the first is that of `train`."""

Place = tuple[str, str]
"""A module and a function of it."""
Call = tuple[Place, Place]


class Trace:
    """A profiler that keeps which modules ran, and which function called which of another module."""

    def __init__(self) -> None:
        self.passed: set[str] = set()
        self.calls: set[Call] = set()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or (here := place(frame)) is None:
            return
        self.passed.add(here[0])
        caller, there = frame.f_back, None
        while caller is not None and (there := place(caller)) is None:
            caller = caller.f_back
        if there and there[0] != here[0]:
            self.calls.add((there, here))


def place(frame: FrameType) -> Place | None:
    """The module and the function of a frame, if it is the package's. Code that was generated, as of a
    dataclass, has no file, but the module's own globals."""
    module = str(frame.f_globals.get("__name__", ""))
    inside = module == PACKAGE or module.startswith(f"{PACKAGE}.")
    return (module, frame.f_code.co_qualname) if inside else None


def traced(work: Callable[[], Any]) -> Trace:
    """What runs, in this thread and in those that it starts."""
    trace = Trace()
    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return trace


def trace_into(file: str, *command: str) -> None:
    """Import all of the package that is on the path, run a command of it and keep its trace."""
    folder = Path(importlib.import_module(PACKAGE).__file__ or "").parent
    for path in sorted(folder.rglob("*.py")):
        if path.stem != "__main__":
            importlib.import_module(module_name(path, folder.parent))
    main = importlib.import_module(f"{PACKAGE}.cli").main
    status: list[int] = []
    trace = traced(lambda: status.append(main(list(command))))
    found = {"passed": sorted(trace.passed), "calls": sorted(trace.calls)}
    Path(file).write_text(json.dumps(found), "utf-8")
    sys.exit(*status)


def travelled(source: Path) -> dict[str, Trace]:
    """The trace of each journey through the package in a folder."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.pathsep.join([str(source), str(Path(__file__).parent)])
        own = {"PYTHONPATH": path, "POLYMODAL_CACHE": f"{folder}/cache"}
        for name, command in JOURNEYS.items():
            if name in BEFORE:
                run("-m", PACKAGE, *shlex.split(BEFORE[name]), folder=folder, env=own)
            run("-c", CHILD, f"{name}.json", *shlex.split(command), folder=folder, env=own)
            found[name] = trace = Trace()
            kept = json.loads(Path(folder, f"{name}.json").read_text("utf-8"))
            trace.passed = set(kept["passed"])
            trace.calls = {(tuple(a), tuple(b)) for a, b in kept["calls"]}
    return found


def run(*arguments: str, folder: str, env: dict[str, str]) -> None:
    """Run Python in a folder; say what it said if it fails."""
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **env}, text=True, capture_output=True
    )
    if done.returncode:
        sys.exit(f"{shlex.join(command)} failed:\n{done.stdout}{done.stderr}")


def module_name(path: Path, source: Path) -> str:
    """`polymodal.data.batch_order` of its file."""
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room(module: str) -> str:
    """The first part of a module's name within the package."""
    return module.split(".")[1] if "." in module else module


def both_ways(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs that are there in both directions, each once.

    >>> both_ways([("a", "b"), ("b", "a"), ("b", "c"), ("c", "c")])
    [('a', 'b')]
    """
    known = set(pairs)
    return sorted((a, b) for a, b in known if a < b and (b, a) in known)


def doors(trace: Trace) -> set[tuple[str, str]]:
    """The rooms that call each other, the caller first."""
    pairs = {(room(a[0]), room(b[0])) for a, b in trace.calls}
    return {(here, there) for here, there in pairs if here != there}


def counted(trace: Trace) -> dict[str, int]:
    """How far a journey goes."""
    return {
        "files": len(trace.passed),
        "rooms": len({room(module) for module in trace.passed}),
        "doors": len(doors(trace)),
        "back_and_forths": len(both_ways(doors(trace))),
    }


def sized(checkout: Path) -> dict[str, int]:
    """How many files, lines and doors there are: a door is a pair of rooms of which one imports the
    other's modules."""
    found = {}
    for part in ("src", "tests"):
        texts = {path: path.read_text("utf-8") for path in sorted((checkout / part).rglob("*.py"))}
        kinds = [kind for text in texts.values() for kind in lines(text)]
        found[f"{part}_files"] = len(texts)
        found |= {f"{part}_{kind}": kinds.count(kind) for kind in ("code", "words", "blank")}
    rooms, pairs = opened(checkout / "src")
    told = {"rooms": len(rooms), "doors": len(pairs), "doors_both_ways": len(both_ways(pairs))}
    return found | told


def lines(text: str) -> Iterator[str]:
    """Of each line whether it is code, words (docstrings and comments) or blank.

    >>> list(lines('def f():\\n    "Why."\\n\\n    return 1  # so\\n'))
    ['code', 'words', 'blank', 'code']
    """
    told = {
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()
    }
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                told |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    for number, line in enumerate(text.splitlines(), 1):
        yield "blank" if not line.strip() else "words" if number in told else "code"


def opened(source: Path) -> tuple[set[str], set[tuple[str, str]]]:
    """The rooms of the package in a folder, and their doors, wherever in a module an import stands."""
    rooms, found = set(), set()
    for path in source.rglob("*.py"):
        here = room(module_name(path, source))
        rooms.add(here)
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {(here, room(name)) for name in names if name.split(".")[0] == PACKAGE}
    found = {(here, there if there in rooms else PACKAGE) for here, there in found}
    return rooms, {(here, there) for here, there in found if here != there}


def checked_out(revision: str, folder: Path) -> Path:
    """The code and tests of a revision, in a folder."""
    command = ["git", "archive", "--format=tar", revision, "src", "tests"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True)
    if done.returncode:
        sys.exit(done.stderr.decode())
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


def examined(checkout: Path, when: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """The rows of one version of the package; its calls printed if they are asked for."""
    rows: list[dict[str, Any]] = []
    for name, trace in travelled(checkout / "src").items():
        pairs = both_ways(doors(trace))
        row = {"name": name, "when": when, "metrics": counted(trace)}
        rows.append(row | {"back_and_forths": [" – ".join(pair) for pair in pairs]})
        for pair in pairs if options.calls else ():
            print(f"\n{name} {when}: {' – '.join(pair)}")
            for (a, f), (b, g) in sorted(trace.calls):
                if {room(a), room(b)} == set(pair):
                    print(f"  {a}.{f} calls {b}.{g}")
    if options.size:
        rows.append({"name": "size", "when": when, "metrics": sized(checkout)})
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    """Print a table of figures down, and what they are of across."""
    console = Console()
    for own in (True, False):
        some = [row for row in rows if (row["name"] in JOURNEYS) == own]
        table = Table("", *(f"{row['name']}, {row['when']}" for row in some))
        for key in some[0]["metrics"] if some else ():
            told = [f"{row['metrics'][key]:,}" for row in some]
            table.add_row(key.replace("_", " "), *told)
        if some:
            console.print(table)


def write(rows: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Write what was found, with all that it depends on."""
    from polymodal.base import files
    from polymodal.base.hardware import hardware
    from polymodal.base.version import versions

    told = {"study": "journeys", "command": shlex.join(["python", *sys.argv])}
    told |= {"hardware": hardware(), "versions": versions()}
    protocol = {"before": options.before, "journeys": JOURNEYS, "prepared by": BEFORE}
    files.write_json(options.json, told | {"protocol": protocol, "rows": rows})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", metavar="REVISION", help="a git revision to set beside")
    parser.add_argument("--size", action="store_true", help="count files, lines and doors too")
    parser.add_argument("--calls", action="store_true", help="print what goes back and forth")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    options = parser.parse_args()
    rows = []
    if options.before:
        with tempfile.TemporaryDirectory() as folder:
            rows += examined(checked_out(options.before, Path(folder)), "before", options)
    rows += examined(ROOT, "now", options)
    show(rows)
    if options.json:
        write(rows, options)


if __name__ == "__main__":
    main()
