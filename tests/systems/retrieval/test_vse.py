"""VSE++: it can learn, its scores are the metrics', and every way of giving it images agrees."""

import dataclasses

import numpy as np
import pytest
import torch
from PIL import Image

from polymodal.base.config import from_settings
from polymodal.base.errors import PolymodalError
from polymodal.data.drawn.scenes import named as named_world
from polymodal.data.drawn.scenes.caption_truth import Scenes, claim
from polymodal.data.features import open_features, write_features
from polymodal.data.folder import Folder, FolderSplit, open_folder
from polymodal.data.pairs import captions_of
from polymodal.data.records import Caption
from polymodal.maths.similarity import cosine
from polymodal.metrics.hubness import hubness
from polymodal.metrics.precision import precision
from polymodal.metrics.recall import retrieval, retrieval_in_folds
from polymodal.nn.named_encoders import extractor
from polymodal.systems.retrieval import Retrieval
from polymodal.systems.retrieval.vse import Config, build, learn
from toys import fall, write_backbone

TINY = Config(embed_dim=16, hidden=16, word_dim=8, convnet_width=8, lr=1e-2)


@pytest.fixture(scope="module")
def splits(squares) -> Folder:
    return open_folder(squares, size=32, progress=False)


def tiny(splits, **changes) -> Retrieval:
    torch.manual_seed(0)
    config = dataclasses.replace(TINY, **changes)
    return build(config, learn(config, splits["train"]))


@pytest.fixture(scope="module")
def system(splits) -> Retrieval:
    return tiny(splits)


@pytest.fixture(scope="module")
def features(splits, tmp_path_factory):
    folder = tmp_path_factory.mktemp("features")
    write_features(dict(splits), lambda x: x.mean((1, 2)) / 255, folder, "mean", progress=False)
    return open_features(folder, splits)


def descend(system: Retrieval, pairs: np.ndarray, examples, steps: int) -> list[float]:
    """Plain Adam on one batch."""
    return fall(system, examples.batch(pairs), steps)


def test_it_overfits_one_batch(splits):
    wide = {"embed_dim": 64, "hidden": 64, "word_dim": 16, "word_scale": 1.0, "lr": 3e-3}
    system = tiny(splits, negatives="sum", **wide)
    full = np.arange(0, 32, 2)  # the captions that name colour and place
    losses = descend(system, full, system.examples(splits["train"]), 160)
    assert losses[0] > 1
    assert losses[-1] < 0.05  # and that with the hardest negatives, one of the sum, is no larger


def test_infonce_overfits_one_batch(splits):
    wide = {"embed_dim": 64, "hidden": 64, "word_dim": 16, "word_scale": 1.0, "lr": 3e-3}
    system = tiny(splits, loss="infonce", scale=14.0, learn_scale=True, **wide)
    losses = descend(system, np.arange(0, 32, 2), system.examples(splits["train"]), 120)
    assert losses[0] > 2
    assert losses[-1] < 0.1
    assert system.loss.log_scale.exp().item() > 14.1


def test_weights_of_before_the_losses_still_fit(splits):
    """A hinge loss learns nothing of its own, so a run of an older version loads as it is."""
    assert not [name for name in tiny(splits).state_dict() if name.startswith("loss.")]
    old = {name: value for name, value in vars(TINY).items() if name in ("embed_dim", "margin")}
    assert from_settings(Config, old, "config.yaml").loss == "hinge"


def test_a_second_phase_may_have_another_loss(splits):
    first, learned = tiny(splits), learn(TINY, splits["train"])
    second = tiny(splits, loss="sigmoid", bias=-3.0, learn_scale=True)
    second.begin_from(first.state_dict(), learned)
    assert torch.equal(second.images.head.weight, first.images.head.weight)
    assert second.loss.bias.item() == -3
    tiny(splits).begin_from(second.state_dict(), learned)


@pytest.mark.parametrize("negatives", ["hardest", "sum", "semi-hard"])
def test_every_choice_of_negatives_takes_two_steps(splits, negatives):
    system = tiny(splits, negatives=negatives, crop=0.9, flip=True)
    before = {name: value.clone() for name, value in system.state_dict().items()}
    losses = descend(system, np.arange(8), system.examples(splits["train"]), 2)
    assert np.isfinite(losses).all()
    assert losses[0] > 0
    for part in ("images.encoder", "images.head", "captions.encoder", "captions.head"):
        moved = [not torch.equal(v, before[k]) for k, v in system.state_dict().items() if part in k]
        assert any(moved), part


def test_warmup_sums_the_negatives_first(splits):
    cold, warm, summed = (
        tiny(splits, **changes) for changes in ({}, {"warmup": 1}, {"negatives": "sum"})
    )
    batch = cold.examples(splits["train"]).batch(np.arange(8))
    assert warm.training_step(batch, 0)["loss"] == summed.training_step(batch, 0)["loss"]
    assert warm.training_step(batch, 0)["loss"] > cold.training_step(batch, 0)["loss"]


def test_it_learns_the_training_captions_alone(splits, tmp_path):
    write = tmp_path / "captions.csv"
    rows = [("train", "red cube"), ("val", "blue cube"), ("test", "green cube")]
    for split, _ in rows:
        Image.new("RGB", (32, 32)).save(tmp_path / f"{split}.png")
    lines = [f"{split}.png,{text},{split}" for split, text in rows]
    write.write_text("\n".join(["image,caption,split", *lines]))
    own = open_folder(tmp_path, size=32, progress=False)
    learned = learn(TINY, own["train"])
    assert learned["vocabulary"][4:] == ["cube", "red"]
    assert learned["size"] == 32
    assert learned["image_encoder"] == {"kind": "convnet"}


def test_an_empty_split_has_nothing_to_learn_from(splits):
    empty = splits["train"].take([])
    with pytest.raises(PolymodalError, match="training split is empty"):
        learn(TINY, empty)


def test_embeddings_lie_on_the_sphere(system, splits):
    for found in (
        system.encode_dataset(splits["val"]),
        system.encode_texts(["a red square", "red"]),
    ):
        assert found.shape[1] == 16
        torch.testing.assert_close(found.norm(dim=1), torch.ones(len(found)))


def test_evaluate_scores_what_encode_gives(splits):
    system = tiny(splits, fold=8)
    val = splits["val"]
    texts = captions_of(val)
    images = system.encode_dataset(val)
    captions = system.encode_texts([text for own in texts for text in own])
    owner = torch.arange(16).repeat_interleave(2)
    folds = retrieval_in_folds(cosine, images, captions, owner, 8)
    expected = retrieval(cosine, images, captions, owner) | hubness(cosine, images, captions)
    expected |= {f"fold_{name}": value for name, value in folds.items()}
    assert system.validate(val) == expected
    right = torch.arange(16)[:, None] == owner
    found = precision(cosine, images, captions, right)
    more = {f"i2t_{name}": value for name, value in found.items()} | {"unknown_words": 0.0}
    assert system.evaluate(val) == expected | more
    assert system.monitor in expected


def test_folds_are_the_mean_of_each_fold_alone(splits):
    """001, §3.1: successive folds and their captions, each a retrieval of its own; and all together."""
    system = tiny(splits, fold=5)
    val = splits["val"]
    alone = [
        system.validate(val.take(range(start, start + 5)))
        for start in (0, 5, 10)  # the sixteenth image is left out
    ]
    found = system.validate(val)
    for name in ("i2t_r1", "t2i_r5", "t2i_median", "rsum"):
        assert found[f"fold_{name}"] == pytest.approx(sum(part[name] for part in alone) / 3)
    assert found["rsum"] <= found["fold_rsum"]


def test_words_that_were_never_met_are_counted(system, splits):
    val = splits["val"]
    item = dataclasses.replace(val.items[0], captions=(Caption("a violet square at the zenith"),))
    found = system.evaluate(FolderSplit(val.source, (item,), val.size))
    assert found["unknown_words"] == pytest.approx(100 * 2 / 6)


def test_captions_true_of_several_scenes_have_several_right_answers():
    """On scenes, precision against a loop over captions and all the images of which they are true."""
    world = named_world("scenes", size=32, train=30, val=1, test=1)
    split = world.splits()["train"]
    config = dataclasses.replace(TINY, convnet_width=16)
    torch.manual_seed(0)
    system = build(config, learn(config, split))
    found = system.evaluate(split)
    scenes = Scenes(split.source.layout(i) for i in range(30))
    images = system.encode_dataset(split)
    shares = []
    for i in range(30):
        for caption in split.captions(i):
            true = set(np.flatnonzero(scenes.true(claim(caption))))
            first = cosine(system.encode_texts([caption.text]), images)[0].argsort(descending=True)
            shares.append(len(true & set(first[: len(true)].tolist())) / len(true))
    assert found["t2i_r_precision"] == pytest.approx(100 * np.mean(shares), abs=0.5)
    assert 0 < found["t2i_map_at_r"] <= found["t2i_r_precision"]
    assert "t2i_r_precision" not in system.validate(split)


def test_one_fold_is_no_fold(system, splits):
    assert not [name for name in system.evaluate(splits["val"]) if name.startswith("fold_")]


def test_images_in_any_form_are_the_datasets(system, splits, squares):
    val = splits["val"]
    paths = [squares / name for name in val.ids[:3]]
    mixed = [str(paths[0]), Image.open(paths[1]), np.asarray(Image.open(paths[2]))]
    expected = system.encode_dataset(val)[:3]
    torch.testing.assert_close(system.encode_images(mixed), expected)
    torch.testing.assert_close(system.encode_images(paths), expected)


def test_blocks_change_nothing(system, splits):
    val, texts = splits["val"], ["red", "a blue square at the top", "something green"]
    torch.testing.assert_close(system.encode_dataset(val, block=5), system.encode_dataset(val))
    torch.testing.assert_close(system.encode_texts(texts, block=2), system.encode_texts(texts))


def test_features_are_standardised_by_the_training_split(features):
    system = tiny(features)
    system.start(features["train"])
    rows = torch.from_numpy(features["train"].column("features").batch(range(48)))
    found = system.images.encoder(rows)
    torch.testing.assert_close(found.mean(0), torch.zeros(3), rtol=0, atol=1e-2)
    torch.testing.assert_close(found.std(0), torch.ones(3), rtol=0, atol=2e-2)
    assert set(system.evaluate(features["val"])) >= {"rsum", "i2t_r1", "t2i_r1"}


def test_pictures_become_the_features_that_the_model_was_trained_on(splits, squares, tmp_path):
    encoder = str(write_backbone(tmp_path / "vit", "vit"))

    def extract(pictures):
        with torch.no_grad():
            return extractor(encoder, 32)(torch.from_numpy(pictures).permute(0, 3, 1, 2)).numpy()

    folder = tmp_path / "features"
    write_features(dict(splits), extract, folder, encoder, dtype="float32", progress=False)
    features = open_features(folder, splits)
    system = tiny(features)
    system.start(features["train"])
    expected = system.encode_dataset(features["val"])
    torch.testing.assert_close(system.encode_dataset(splits["val"]), expected)
    torch.testing.assert_close(system.encode_images([squares / "val-000.png"]), expected[:1])


def test_features_of_another_encoder_are_refused(system, features):
    with pytest.raises(
        PolymodalError, match="are those of mean, but the model was trained on pict"
    ):
        system.evaluate(features["val"])


def test_features_cannot_be_tuned(features):
    with pytest.raises(PolymodalError, match=r"finetune moves the image encoder.*--features"):
        tiny(features, finetune=True)


def test_only_a_collapse_is_a_symptom(system):
    assert "Try --warmup 500" in system.symptom(0.4)
    assert "twice the margin (0.4 per pair)" in system.symptom(0.401)
    assert [system.symptom(loss) for loss in (0.0, 0.2, 0.39, 0.41, 5.0)] == [None] * 5


def test_a_loss_with_summed_negatives_may_be_any_number(splits):
    assert tiny(splits, negatives="sum").symptom(0.4) is None


def test_protocol(system):
    assert system.protocol() == {"similarity": "cosine", "ties": "against the model", "fold": 1000}


def test_no_margin_is_refused():
    with pytest.raises(
        PolymodalError, match=r"^margin must be above 0, not 0\.0: no margin, no loss\.$"
    ):
        Config(margin=0.0)


def test_a_crop_that_leaves_nothing(splits):
    with pytest.raises(PolymodalError, match="leaves 2 of 32 pixels a side"):
        tiny(splits, crop=0.06)


def test_nothing_encoded_is_no_rows(splits):
    system = tiny(splits)
    assert system.encode_images([]).shape == system.encode_texts([]).shape == (0, 16)


def test_texts_come_as_a_list_of_texts(system):
    with pytest.raises(PolymodalError, match="encode_texts takes a list of texts"):
        system.encode_texts("a red cube")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([""], "The text '' has no words"),
        (["a red square", " ?! "], r"The text ' \?! ' has no words"),
        (["a red square", "glorp"], "knows no word of 'glorp'"),
    ],
)
def test_texts_that_say_nothing_to_the_model_are_refused(system, texts, message):
    with pytest.raises(PolymodalError, match=message):
        system.encode_texts(texts)


def test_images_come_as_a_list(system):
    with pytest.raises(PolymodalError, match=r"takes a list of images, .* not 'photo.png'"):
        system.encode_images("photo.png")
