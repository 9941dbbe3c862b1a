"""The judge: it can learn, its scores are those of a loop, and it says when it is not to be trusted."""

import csv
import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from polymodal import load
from polymodal.base.errors import PolymodalError
from polymodal.data.drawn.scenes import named
from polymodal.data.fixed_words import Words
from polymodal.data.folder import open_folder
from polymodal.data.image_texts import texts_of
from polymodal.data.records import Dataset
from polymodal.metrics.correctness import bag_correctness, correctness
from polymodal.runs import jobs
from polymodal.systems.vlvae.judge import OPPOSITES, Config, build, learn, named_places
from polymodal.systems.vlvae.judge.bag_judge import BagJudge
from polymodal.systems.vlvae.judge.place_judge import PlaceJudge
from polymodal.training.training_config import Training
from toys import COLOURS, fall

TINY = Config(width=8, code=32, hidden=64, lr=3e-3, warmup=0)
NINE = {"size": [0, 5], "colour": [1, 6], "material": [2, 7], "shape": [3, 8], "relation": [4]}


def world(name: str = "two-objects", **options) -> dict[str, Dataset]:
    return named(name, **{"size": 32, "train": 24, "val": 12, "test": 0} | options).splits()


@pytest.fixture(scope="module")
def two() -> dict[str, Dataset]:
    return world()


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Pictures of one to three squares, and their colours in any order."""
    folder = tmp_path_factory.mktemp("bags")
    rng = np.random.default_rng(0)
    with (folder / "captions.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["image", "caption", "split"])
        for i in range(48):
            there = rng.permutation(4)[: 1 + i % 3]
            pixels = np.full((16, 16, 3), 90, np.uint8)
            for colour in there:
                x, y = 8 * (colour % 2), 8 * (colour // 2)
                pixels[y : y + 8, x : x + 8] = list(COLOURS.values())[colour]
            Image.fromarray(pixels).save(folder / f"{i}.png")
            words = " ".join(list(COLOURS)[colour] for colour in there)
            rows.writerow([f"{i}.png", words, "train" if i < 32 else "val"])
    return folder


@pytest.fixture(scope="module")
def bags(folder) -> dict[str, Dataset]:
    return open_folder(folder, size=16, progress=False)


def tiny(train: Dataset, **changes) -> PlaceJudge | BagJudge:
    torch.manual_seed(0)
    config = dataclasses.replace(TINY, **changes)
    return build(config, learn(config, train))


def test_it_overfits_one_batch(two):
    """All eight words in the order of each relation, and where the objects are."""
    judge = tiny(two["train"], width=16)
    batch = judge.examples(two["train"]).batch(np.arange(4))
    losses = fall(judge, batch, 60)
    assert losses[0] > 1
    assert losses[-1] < 0.05
    found = judge.scores(iter([batch]))
    assert found["least_accuracy"] == 100
    assert found["place_error"] < 10
    words, places = judge.read(batch.images, batch.texts[:, 2])
    assert torch.equal(words, batch.texts[:, 2])
    assert (places - batch.places[:, 2]).norm(dim=-1).max() < 0.25
    turned = judge.read(batch.images, batch.texts[:, 3])[1]
    torch.testing.assert_close(turned, places.flip(1), atol=0.2, rtol=0)


def test_a_bag_overfits_one_batch(bags):
    judge = tiny(bags["train"])
    batch = judge.examples(bags["train"]).batch(np.arange(16))
    losses = fall(judge, batch, 60)
    assert losses[0] > 0.5
    assert losses[-1] < 0.05
    found = judge.scores(iter([batch]))
    assert found["least_accuracy"] == found["correctness"] == 100


def test_it_learns_the_words_of_each_place(two):
    learned = learn(TINY, two["train"])
    assert learned["size"] == 32
    assert learned["objects"] == 2
    words = learned["words"]["words"]
    assert [words[n] for n in learned["at"][4]] == ["left", "right", "front", "behind"]
    assert {words[n] for n in learned["at"][0]} == {"small", "large"}
    judge = build(TINY, learned)
    assert judge.attributes == NINE
    assert judge.reader.relation == 4


def test_one_object_has_neither_relation_nor_order():
    train = world("one-object")["train"]
    judge = tiny(train)
    assert judge.attributes == {"size": [0], "colour": [1]}
    assert judge.reader.relation is None
    assert judge.reader.objects == 1
    found = judge.evaluate(train)
    assert found.keys() == {"accuracy_size", "accuracy_colour", "least_accuracy", "place_error"}


def test_shorter_texts_make_a_bag(bags, two):
    assert isinstance(tiny(bags["train"]), BagJudge)
    assert isinstance(tiny(bags["train"], words="places"), PlaceJudge)
    assert isinstance(tiny(two["train"], words="bag"), BagJudge)


def test_relations_are_known_by_their_opposites():
    assert named_places([["left"], ["cube"]]) == {"word_1": [0], "shape": [1]}
    several = [["left", "right"], ["front", "behind"]]
    assert named_places(several) == {"word_1": [0], "word_2": [1]}


def test_accuracies_are_those_of_a_loop(two):
    judge = tiny(two["train"])
    right, caught = {name: [] for name in NINE}, []
    for i, texts in enumerate(texts_of(two["val"])):
        picture = torch.from_numpy(two["val"].images([i])).permute(0, 3, 1, 2)
        for text in texts:
            told = judge.words.encode([text])
            read, _ = judge.read(picture, told)
            for name, places in NINE.items():
                right[name] += (told == read)[0, places].tolist()
            *first, relation, a, b, c, d = text.split()
            if first != [a, b, c, d]:
                false = [*first, OPPOSITES[relation], a, b, c, d]
                read, _ = judge.read(picture, judge.words.encode([" ".join(false)]))
                caught.append(judge.words.words[read[0, 4]] == relation)
    found = judge.evaluate(two["val"])
    expected = {name: 100 * np.mean(all_of_them) for name, all_of_them in right.items()}
    expected["relation"] = 0.5 * (expected["relation"] + 100 * np.mean(caught))
    for name, share in expected.items():
        assert found[f"accuracy_{name}"] == pytest.approx(share)
    assert found["least_accuracy"] == min(found[f"accuracy_{name}"] for name in NINE)
    assert judge.validate(two["val"]) == found  # there are no more than it takes


def test_a_judge_that_never_contradicts_a_relation_is_right_of_half(two, monkeypatch):
    judge = tiny(two["train"])
    monkeypatch.setattr("polymodal.nn.word_readers.DOUBT", 1e9)
    assert judge.evaluate(two["val"])["accuracy_relation"] == 50


def test_between_twins_every_relation_holds(two):
    """A picture of twins alone has no false relation to be caught in."""
    judge = tiny(two["train"])
    batch = judge.examples(two["train"]).batch(np.arange(1))
    batch.texts[..., :4] = batch.texts[..., 5:] = batch.texts[:, :1, :4].clone()
    found = judge.scores(iter([batch]))
    read, _ = judge.reader.read(batch.images, batch.texts)
    kept = (read == batch.texts)[..., 4].double().mean().item()
    assert found["accuracy_relation"] == 100 * kept


def test_validation_reads_the_first_pictures_alone(two, monkeypatch):
    judge = tiny(two["train"])
    monkeypatch.setattr("polymodal.systems.vlvae.judge.judge_module.QUICK", 5)
    monkeypatch.setattr("polymodal.systems.vlvae.judge.judge_module.BLOCK", 2)
    batches = list(judge.batches(two["val"], 5))
    assert [len(batch) for batch in batches] == [2, 2, 1]
    assert judge.validate(two["val"]) == judge.scores(iter(batches))


def test_balanced_accuracies_are_those_of_a_loop(bags):
    judge = tiny(bags["train"])
    val = bags["val"]
    likely = judge.probabilities(torch.from_numpy(val.images(range(16))).permute(0, 3, 1, 2))
    found = judge.evaluate(val)
    for colour in COLOURS:
        number = judge.words.numbers[colour]
        hits: dict[bool, list[bool]] = {True: [], False: []}
        for i in range(16):
            there = colour in val.captions(i)[0].text.split()
            hits[there].append(bool(likely[i, number] > 0.5) == there)
        expected = 50 * (np.mean(hits[True]) + np.mean(hits[False]))
        assert found[f"accuracy_{colour}"] == pytest.approx(expected)
    told = judge.words.encode([val.captions(i)[0].text for i in range(16)])
    assert found["correctness"] == bag_correctness(told, likely, blank=0)["correctness"]


def test_words_that_all_pictures_have_tell_nothing(bags):
    judge = tiny(bags["train"])
    batch = judge.examples(bags["val"]).batch(np.array([0, 0]))
    found = judge.scores(iter([batch]))
    assert found["least_accuracy"] == 0
    assert not [name for name in found if name.startswith("accuracy_")]


def test_correctness_is_the_metric_of_what_it_reads(two, bags):
    judge = tiny(two["train"])
    batch = judge.examples(two["val"]).batch(np.arange(12))
    texts = batch.texts[:, 1]
    read, _ = judge.read(batch.images, texts)
    expected = correctness(texts, read, NINE)
    assert judge.correctness(batch.images, texts) == expected
    assert judge.correctness(batch.images / 255, texts) == expected  # as a generator gives them
    bag = tiny(bags["train"])
    batch = bag.examples(bags["val"]).batch(np.arange(16))
    likely = bag.probabilities(batch.images)
    told = batch.texts[:, 0]
    assert bag.correctness(batch.images, told) == bag_correctness(told, likely, blank=0)


@pytest.mark.parametrize("precision", ["32", "bf16"])
def test_it_trains_to_a_run_that_loads(tmp_path, precision):
    training = Training(
        max_steps=3, batch_size=8, accelerator="cpu", log_every=1, precision=precision
    )
    run = tmp_path / "run"
    data = "two-objects,size=16,train=16,val=6"
    metrics = jobs.train("judge", TINY, training, data=data, run=run)
    assert metrics["monitor"] == "least_accuracy"
    assert {f"accuracy_{name}" for name in NINE} < metrics["scores"]["val"].keys()
    assert "relation" in metrics["protocol"]
    assert any("does not read" in symptom for symptom in metrics["symptoms"])
    again = jobs.evaluate(run, "val")
    assert again["scores"]["val"] == pytest.approx(metrics["scores"]["val"])
    assert load(run).words.words[16:] == ("left", "right", "front", "behind")
    assert jobs.train("judge", TINY, training, data=data, run=run) == metrics


def test_a_bag_trains_to_a_run_too(folder, tmp_path):
    training = Training(max_steps=2, batch_size=8, accelerator="cpu", resident=True)
    data = f"folder:{folder},size=16"
    metrics = jobs.train("judge", TINY, training, data=data, run=tmp_path / "run")
    assert {"correctness", "least_accuracy", "accuracy_red"} < metrics["scores"]["val"].keys()
    assert metrics["protocol"]["accuracy"] == "balanced"


def test_it_goes_on_from_another_judge(two):
    first, second = tiny(two["train"]), tiny(two["train"])
    fall(first, first.examples(two["train"]).batch(np.arange(4)), 1)
    learned = learn(TINY, two["train"])
    second.begin_from(first.state_dict(), learned)
    assert torch.equal(second.reader.words.weight, first.reader.words.weight)
    with pytest.raises(PolymodalError, match="a judge of other words or of another shape"):
        tiny(two["train"], hidden=32).begin_from(first.state_dict(), learned)
    other = {**learned, "words": Words.of(["red"]).as_json()}
    with pytest.raises(PolymodalError, match="a judge of other words"):
        second.begin_from(first.state_dict(), other)


def test_it_says_what_it_cannot_read(two, bags):
    judge = tiny(two["train"])
    scores = {f"accuracy_{name}": 99.0 for name in NINE} | {"least_accuracy": 99.0}
    assert judge.symptoms(scores) == []
    (symptom,) = judge.symptoms(scores | {"accuracy_shape": 97.95, "accuracy_size": 98.0})
    assert "does not read size (98.0 %), shape (98.0 %) correctly in more than 98 %" in symptom
    bag = tiny(bags["train"])
    assert bag.symptoms({"accuracy_red": 56.0, "least_accuracy": 50.0}) == []
    (symptom,) = bag.symptoms({"accuracy_red": 54.0, "accuracy_blue": 90.0})
    assert "hardly recognises red (balanced accuracies below" in symptom


def test_it_says_when_it_guesses(two, bags):
    judge = tiny(two["train"])
    chance = np.mean(np.log([2, 8, 2, 3, 2, 8, 2, 3]))
    assert f"a random word of its position gives {chance:.2f}" in judge.symptom(chance)
    assert judge.symptom(0.9 * chance) is None
    assert tiny(two["train"], warmup=5).symptom(chance) is None  # it has hardly begun
    bag = tiny(bags["train"])
    assert "is at chance level: the loss per word is 0.69" in bag.symptom(np.log(2))
    assert bag.symptom(0.5) is None


def test_an_empty_split_has_nothing_to_learn_from(bags):
    empty = bags["train"].take([])
    with pytest.raises(PolymodalError, match="training split is empty"):
        learn(TINY, empty)


def test_it_refuses_pictures_of_another_size_and_objects_at_unknown_places(two, tmp_path):
    judge = build(TINY, learn(TINY, two["train"]))
    with pytest.raises(PolymodalError, match="are 24×24, but the model was trained on 32×32"):
        judge.evaluate(world(size=24)["val"])
    Image.fromarray(two["val"].images([0])[0]).save(tmp_path / "a.png")
    (tmp_path / "captions.csv").write_text(f"image,caption\na.png,{texts_of(two['val'])[0][0]}\n")
    with pytest.raises(
        PolymodalError, match="positions of 2 objects, but these data give those of 0"
    ):
        judge.evaluate(open_folder(tmp_path, size=32)["train"])
