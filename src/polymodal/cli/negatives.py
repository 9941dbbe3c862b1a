"""Show words that a language model puts in the place of nouns of captions, kept and rejected."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from polymodal.cli import Device, SkipBad, parse_options

HELP = """\
Show negative captions: words that a language model puts in the place of a noun, kept and rejected.

  polymodal negatives runs/words --data scenes --candidates 10 --kept 6 --out negatives.html
  polymodal negatives bert-base-uncased --data folder:PHOTOS --split train --count 30 --out negatives.html

A kept word fits the caption but should be false for the image. The most likely words in the place of the hidden noun (probability p) are ranked by p/q, where q is their probability when the model sees the noun: synonyms and hypernyms of the noun have a high q, so they come last and are rejected (002, section 2.4). Images are not read.
"""  # noqa: E501 (tyro breaks the lines)


@dataclass(frozen=True, kw_only=True)
class Look:
    """Captions, and words to replace their nouns."""

    model: Annotated[str, Positional, arg(metavar="RUN|MODEL")]
    """Run of `polymodal train mlm`, or a masked language model of transformers: hub id or folder."""
    data: str
    """Data with captions, named as in `polymodal train`."""
    out: Path
    """HTML page to write."""
    split: str = "train"
    """Split of the data."""
    count: int = 12
    """Number of captions, drawn at random."""
    seed: int = 0
    """Random seed of the captions and of the noun in each."""
    candidates: int = 30
    """Most likely words that are considered."""
    kept: int = 25
    """Words that are kept."""
    by_p: bool = False
    """Rank by p alone, not by p/q."""
    skip_bad: SkipBad = False
    device: Device = "cpu"


def main(arguments: list[str]) -> None:
    from polymodal.base.files import check_file
    from polymodal.base.printing import tell
    from polymodal.base.progress import say
    from polymodal.runs.negative_examples import negative_examples
    from polymodal.views.negatives_page import write_negatives

    options = dict(vars(parse_options(Look, "negatives", arguments, HELP)))
    model, out, by_p = (options.pop(name) for name in ("model", "out", "by_p"))
    check_file(out)
    examples = negative_examples(model, options.pop("data"), rerank=not by_p, **options)
    write_negatives(out, examples, f"Negative captions by {model}")
    say("The noun that the words replace stands before *.")
    for example in examples:
        marked = f"{example.text[: example.end]}*{example.text[example.end :]}"
        words = [[one.word for one in example.substitutes if one.kept == kept] for kept in (1, 0)]
        tell(f"{marked}\n  kept      {', '.join(words[0])}\n  rejected  {', '.join(words[1])}")
    say(f"Wrote {out}.")
