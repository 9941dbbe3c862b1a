"""How far an item goes through the package, counted on packages made for it."""

import json
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def journeys(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    import journeys

    yield journeys
    sys.modules.pop("journeys")


def module(name, text, **given):
    """A module of the package that no file has."""
    made = ModuleType(f"polymodal.{name}")
    vars(made).update(given)
    exec(text, vars(made))
    return made


def test_a_callback_through_another_library_is_a_call(journeys):
    low = module("low.tools", "def apply(f):\n    return sorted([2, 1], key=f)")
    high = module(
        "high.work",
        "def own(x):\n    return -x\n\ndef work():\n    return low.apply(own)",
        low=low,
    )
    trace = journeys.traced(high.work)
    assert trace.passed == {"polymodal.low.tools", "polymodal.high.work"}
    work, own = ("polymodal.high.work", "work"), ("polymodal.high.work", "own")
    apply = ("polymodal.low.tools", "apply")
    assert trace.calls == {(work, apply), (apply, own)}
    found = journeys.counted(trace)
    assert found == {"files": 2, "rooms": 2, "doors": 2, "back_and_forths": 1}


def test_threads_and_generated_functions_are_seen(journeys):
    text = "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int"
    points = module("low.points", "")
    sys.modules[points.__name__] = points  # a dataclass looks its own module up
    try:
        exec(text, vars(points))
        thread = threading.Thread

        def work():
            worker = thread(target=lambda: points.Point(1))
            worker.start()
            worker.join()

        trace = journeys.traced(work)
    finally:
        del sys.modules[points.__name__]
    assert trace.passed == {"polymodal.low.points"}
    assert not trace.calls  # from no file of the package


def test_nothing_is_traced_after(journeys):
    low = module("low.tools", "def idle():\n    pass")
    trace = journeys.traced(lambda: None)
    low.idle()
    assert not trace.passed


def test_a_package_is_measured(journeys, tmp_path):
    files = {
        "src/polymodal/__init__.py": "from polymodal.b.two import g\n",
        "src/polymodal/a/one.py": '"""A.\n\nMore."""\n\nfrom polymodal.b import two\n',
        "src/polymodal/b/two.py": "# why\ndef g():\n    import polymodal.a.one  # late\n",
        "tests/test_one.py": "def test():\n    pass\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert journeys.sized(tmp_path) == {
        "src_files": 3, "src_code": 4, "src_words": 3, "src_blank": 2,
        "tests_files": 1, "tests_code": 2, "tests_words": 0, "tests_blank": 0,
        "rooms": 3, "doors": 3, "doors_both_ways": 1,
    }  # fmt: skip


def test_what_a_command_passes_can_be_kept(journeys, tmp_path):
    """In a process of its own, as the benchmark runs it."""
    own = {"PYTHONPATH": f"{journeys.ROOT / 'src'}:{Path(journeys.__file__).parent}"}
    journeys.run("-c", journeys.CHILD, "kept.json", "--version", folder=str(tmp_path), env=own)
    kept = json.loads((tmp_path / "kept.json").read_text())
    main, names = ["polymodal.cli", "main"], ["polymodal.base.catalogue", "names"]
    tell = ["polymodal.base.printing", "tell"]
    assert kept == {
        "passed": ["polymodal.base.catalogue", "polymodal.base.printing", "polymodal.cli"],
        "calls": [[main, names], [main, tell]],
    }
