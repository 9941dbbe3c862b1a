"""The main job in minutes: draw scenes, train a Gaussian model, index, ask, and write a page about it."""

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polymodal.base.printing import tell
from polymodal.base.progress import say
from polymodal.base.tables import Table
from polymodal.data.records import Dataset, Record
from polymodal.data.sources import look_at, open_splits
from polymodal.maths.similarity import ranks
from polymodal.metrics.recall import chance
from polymodal.runs import jobs
from polymodal.runs.index_building import index_run
from polymodal.runs.loading import load
from polymodal.systems.retrieval import gaussian
from polymodal.training.training_config import Training
from polymodal.views import (
    RETRIEVAL,
    Hit,
    QueryResult,
    Section,
    curves_section,
    facts_section,
    metric_section,
    queries_section,
    scenes_section,
    uncertainty_section,
    write_report,
)

OPTIONS = "objects=1-3,train=4000,val=500,test=500"
DATA = f"scenes,size=64,{OPTIONS}"
SHOWN = f"scenes,size=224,{OPTIONS}"
"""The very same scenes, large enough to look at."""

MODEL = gaussian.Config(
    convnet_width=16,
    embed_dim=256,
    word_dim=64,
    word_scale=1.7,
    hidden=256,
    loss="infonce",
    scale=10.0,
    learn_scale=True,
    lr=1e-3,
    decay_at=0.6,
)
"""Gaussians by their 2-Wasserstein distance. InfoNCE, not the paper's hinge: a short caption is true of
many scenes, so the hardest negatives are mostly none, and among all of them this weighs best."""

TRAINING = Training(
    max_steps=1500,
    batch_size=64,
    val_every=150,
    checkpoint_every=150,
    accelerator="cpu",
    resident=True,
)

NEXT = """
What to try next
  open {report} in a browser
  {polymodal} search {run}/index "a small blue cube" --html found.html
  {polymodal} evaluate {run} --split val
  {polymodal} data show scenes --out scenes.png
  {polymodal} train gaussian --data scenes,size=64 --loss infonce --scale 10 --learn-scale --lr 1e-3 \\
      --embed-dim 256 --hidden 256 --max-steps 3000 --run runs/scenes   longer, 3 to 8 objects
  {polymodal} train gaussian --data folder:PHOTOS --run runs/mine  your own images and captions
  {python} -c "import polymodal; print(polymodal.load('{run}').encode_texts(['a red cube']).entropy())"
"""


@dataclass(frozen=True)
class Query:
    """A text, and the attributes of each object that a right answer must show."""

    text: str
    wanted: tuple[frozenset[str], ...]

    def fits(self, record: Record) -> bool:
        """Whether the scene has everything that was asked for, by its known truth."""
        words = [set(region.name.split()) for region in record.regions or ()]
        return all(any(wanted <= have for have in words) for wanted in self.wanted)


QUERIES = (
    Query("There is a large red object.", (frozenset({"large", "red"}),)),
    Query("a green metal sphere", (frozenset({"green", "metal", "sphere"}),)),
    Query(
        "A scene with a yellow thing and a blue thing.",
        (frozenset({"yellow"}), frozenset({"blue"})),
    ),
)


def demo(run: Path = Path("runs/demo")) -> Path:
    """Do it all; killed, the same call goes on. Gives the report's path."""
    say("Drawing scenes and training a model of images and captions (a few minutes on a CPU).")
    say("rsum: recall at 1, 5 and 10 in both directions, added up. Higher is better.")
    metrics = jobs.train("gaussian", MODEL, TRAINING, data=DATA, run=run)
    by_chance = chance(metrics["protocol"]["splits"]["test"]["images"], captions=5)
    test = metrics["scores"]["test"]
    names = ["i2t_r1", "i2t_r5", "i2t_r10", "t2i_r1", "t2i_r5", "t2i_r10"]
    rows = [
        [n, f"{test[n]:.1f}", f"{by_chance[n]:.1f}", f"{test[n] / by_chance[n]:.1f}"] for n in names
    ]
    answers = ask_queries(run, open_splits(DATA)["test"], look_at(SHOWN)["test"])
    report = run / "report.html"
    scenes = look_at(SHOWN)["train"]
    write_demo_report(report, metrics, by_chance, [queries_section(answers), doubts(run)], scenes)
    Table(header=["recall in %", "test", "chance", "× chance"], rows=rows).print("Retrieval")
    tell(NEXT.format(report=report, run=run, **programs()))
    return report


def programs() -> dict[str, str]:
    """How to call polymodal and Python from this shell, in a virtual environment or out of it."""
    called = Path(sys.executable)
    near = called.parent.relative_to(Path.cwd()) if called.is_relative_to(Path.cwd()) else None
    names = {"polymodal": "polymodal", "python": "python"}
    if near is None or shutil.which("polymodal") is not None:
        return names
    return {name: str(near / program) for name, program in names.items()}


def ask_queries(run: Path, small: Dataset, large: Dataset) -> list[QueryResult]:
    """Answer the three queries from an index of the test split, and say how many answers are right."""
    index_run(run, run / "index")
    answers = load(run).search([query.text for query in QUERIES], index=run / "index", k=5)
    shown = []
    for query, answer in zip(QUERIES, answers, strict=True):
        records = [large[hit.metadata["record"]] for hit in answer]
        hits = tuple(
            Hit(record.image, hit.score, hit.captions, query.fits(record), hit.entropy)
            for record, hit in zip(records, answer, strict=True)
        )
        shown.append(QueryResult(query.text, hits, note=f"{answer.sureness}."))
        right = sum(bool(hit.right) for hit in hits)
        say(f"“{query.text}”: {right} of the first 5 are right ({base(query, small)} of all).")
        say(f"  {answer.sureness}.")
    return shown


def doubts(run: Path) -> Section:
    """Whether the model knows what it does not know, of the test captions."""
    system, test = load(run), open_splits(DATA)["test"]
    images, captions, owner = system.embedded(test)
    _, rank = ranks(system.measure, images, captions, owner)
    texts = [caption.text for i in range(len(test)) for caption in test.captions(i)]
    return uncertainty_section(rank, captions.entropy(), texts)


def base(query: Query, dataset: Dataset) -> str:
    """How many of a split's scenes fit a query, as a percentage: what guessing would find."""
    fitting = sum(query.fits(dataset[i]) for i in range(len(dataset)))
    return f"{100 * fitting / len(dataset):.0f} %"


def write_demo_report(
    path: Path,
    metrics: Mapping[str, Any],
    by_chance: Mapping[str, float],
    asked: list[Section],
    scenes: Dataset,
) -> None:
    """The page: scores, curves, queries and how sure they are, scenes, and how it was made."""
    facts = {name: metrics[name] for name in ("command", "hardware", "versions", "protocol")}
    scores = {
        split: {name: value for name, value in metrics_of_split.items() if name in RETRIEVAL}
        for split, metrics_of_split in metrics["scores"].items()
    }
    write_report(
        path,
        "Polymodal demo",
        "A Gaussian model of images and captions, trained from nothing on drawn scenes: what it finds, "
        "and how sure it is.",
        [
            metric_section(scores, by_chance),
            curves_section(metrics["curves"], "rsum"),
            *asked,
            scenes_section([scenes[i] for i in range(8)]),
            facts_section(facts),
        ],
    )
