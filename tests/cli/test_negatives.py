"""`polymodal negatives`: captions of a split with the words in place of a noun, and what it refuses."""

import json

import pytest
import torch
from safetensors.torch import save_file

from polymodal.base.errors import PolymodalError
from polymodal.cli.negatives import main
from polymodal.nn.language_models import LanguageModel, small_language_model
from polymodal.runs.negative_examples import negative_examples

TEXTS = ["a dog and a cat.", "two men", "a red van near a fence", "it is here"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    description = small_language_model(TEXTS, width=8, layers=1, heads=2)
    torch.manual_seed(0)
    weights = LanguageModel(description).state_dict()
    (folder / "learned.json").write_text(json.dumps({"words": description}))
    save_file({f"words.{k}": v for k, v in weights.items()}, folder / "model.safetensors")
    return str(folder)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("said") / "said.txt"
    path.write_text("\n".join(f"{k}\t{text}" for k in range(20) for text in TEXTS))
    return f"text:{path}"


def test_a_page_and_a_listing(run, data, tmp_path, capsys):
    out = tmp_path / "page.html"
    sizes = ["--candidates", "5", "--kept", "3"]
    main([run, "--data", data, "--split", "val", "--count", "4", "--out", str(out), *sizes])
    printed, said = capsys.readouterr()
    assert "stands before *" in said
    lines = printed.splitlines()
    assert len(lines) == 12
    assert all(len(line.split(",")) == 3 for line in lines[1::3])
    page = out.read_text("utf-8")
    assert page.count("<article") == 4
    assert page.count("<mark") == 4
    assert f"Negative captions by {run}" in page


def test_each_caption_has_a_noun_and_its_substitutes_in_order(run, data):
    how = {"count": 6, "candidates": 8, "kept": 3}
    found = negative_examples(run, data, **how)
    assert found == negative_examples(run, data, **how)
    assert found != negative_examples(run, data, seed=1, **how)
    nouns = {"dog", "cat", "men", "van", "fence"}
    for example in found:
        noun = example.text[example.start : example.end]
        assert noun in nouns
        ratios = [one.p / one.q for one in example.substitutes if not one.itself]
        assert ratios == sorted(ratios, reverse=True)
        assert [one.kept for one in example.substitutes] == [True] * 3 + [False] * 5
        assert not any(one.itself and one.word != noun for one in example.substitutes)
    by_p = negative_examples(run, data, rerank=False, **how)
    chances = [one.p for one in by_p[0].substitutes if not one.itself]
    assert chances == sorted(chances, reverse=True)


def test_what_it_refuses(run, data, tmp_path):
    with pytest.raises(PolymodalError, match="has no split 'dev', only train, val, test"):
        negative_examples(run, data, split="dev")
    with pytest.raises(PolymodalError, match="count must be 1 or more, and kept 1 to candidates"):
        negative_examples(run, data, kept=31)
    with pytest.raises(PolymodalError, match="seed must be 0 or more, not -1"):
        negative_examples(run, data, seed=-1)
    (tmp_path / "said.txt").write_text("it is here")
    with pytest.raises(PolymodalError, match="has a noun that is one token"):
        negative_examples(run, f"text:{tmp_path}/said.txt", split="train")
