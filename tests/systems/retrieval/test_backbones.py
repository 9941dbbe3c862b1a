"""Gaussian heads over frozen models: a point model gains variances, and keeps what it knows."""

import dataclasses
import json
import shutil

import pytest
import torch
from torch.nn.functional import normalize

import polymodal
from backbones import write_model
from polymodal.base.errors import PolymodalError
from polymodal.data.features import open_features, write_features
from polymodal.data.folder import open_folder
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.nn.named_encoders import extractor
from polymodal.runs import jobs
from polymodal.systems.retrieval import gaussian, vse
from polymodal.training.training_config import Training

TEXTS = ["a red square at the left", "something blue"]
SHORT = Training(max_steps=3, batch_size=8, accelerator="cpu", log_every=1)


@pytest.fixture(scope="module")
def splits(squares):
    return open_folder(squares, size=32, progress=False)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    kinds = ("clip", "siglip", "dinov2", "bert")
    return {kind: str(write_model(place / kind, kind)) for kind in kinds}


def built(system, splits, **settings):
    torch.manual_seed(0)
    config = system.Config(**{"embed_dim": 12, "lr": 1e-2} | settings)
    found = system.build(config, system.learn(config, splits["train"]))
    found.start(splits["train"])
    return found


@pytest.mark.parametrize(
    ("image", "text"), [("clip", "clip"), ("siglip", "siglip"), ("dinov2", "bert")]
)
def test_heads_alone_learn(splits, models, image, text):
    system = built(gaussian, splits, image_encoder=models[image], text_encoder=models[text],
                   similarity="kl", negatives="sum")  # fmt: skip
    moving = {name for name, p in system.named_parameters() if p.requires_grad}
    heads = {f"{side}.{head}.{part}" for side in ("images", "captions")
             for head in ("mean", "log_var") for part in ("weight", "bias")}  # fmt: skip
    assert moving == heads
    before = {name: value.clone() for name, value in system.state_dict().items()}
    batch = system.examples(splits["train"]).batch(torch.arange(0, 32, 2).numpy())
    adam = torch.optim.Adam([p for p in system.parameters() if p.requires_grad], 1e-2)
    losses = []
    for step in range(60):
        adam.zero_grad()
        found = system.train().training_step(batch, step)
        found["loss"].backward()
        adam.step()
        losses.append(found["shown"].item())
    assert losses[-1] < 0.9 * losses[0]  # what can be made of random features
    changed = {k for k, v in system.state_dict().items() if not torch.equal(v, before[k])}
    assert changed == heads
    assert isinstance(system.encode_texts(TEXTS), DiagonalGaussian)
    assert isinstance(system.encode_dataset(splits["val"]), DiagonalGaussian)


def test_a_run_needs_only_its_own_folder(squares, models, tmp_path):
    clip = shutil.copytree(models["clip"], tmp_path / "clip")
    config = gaussian.Config(image_encoder=str(clip), text_encoder=str(clip), embed_dim=12)
    data = f"folder:{squares},size=32"
    jobs.train("gaussian", config, SHORT, data=data, run=tmp_path / "run")
    first = polymodal.load(tmp_path / "run").encode_texts(TEXTS)
    shutil.rmtree(clip)
    system = polymodal.load(tmp_path / "run")
    again = system.encode_texts(TEXTS)
    assert torch.equal(again.mean, first.mean)
    assert torch.equal(again.log_var, first.log_var)
    assert len(system.encode_images([squares / "val-000.png"])) == 1
    assert set(json.loads((tmp_path / "run" / "metrics.json").read_text())["scores"]) == {
        "val",
        "test",
    }


def embedded_by_clip(folder, splits):
    """CLIP's own embeddings of the validation pictures and of two texts."""
    from transformers import AutoTokenizer, CLIPModel

    model, tokenizer = (
        CLIPModel.from_pretrained(folder).eval(),
        AutoTokenizer.from_pretrained(folder),
    )
    mean, std = (torch.tensor(x).view(3, 1, 1) for x in ([0.4, 0.5, 0.6], [0.2, 0.25, 0.3]))
    pictures = torch.from_numpy(splits["val"].images(range(4))).permute(0, 3, 1, 2)
    given = tokenizer(TEXTS, padding=True, return_tensors="pt")
    with torch.no_grad():
        found = model(**given, pixel_values=(pictures / 255 - mean) / std)
    return normalize(found.image_embeds, dim=-1), normalize(found.text_embeds, dim=-1)


@pytest.mark.parametrize("system", [vse, gaussian])
def test_it_begins_as_clip_itself(splits, models, system):
    clip = models["clip"]
    found = built(system, splits, image_encoder=clip, text_encoder=clip, own_embeddings=True)
    images, texts = found.encode_dataset(splits["val"])[:4], found.encode_texts(TEXTS)
    if system is gaussian:
        images, texts = images.mean, texts.mean
    for mine, theirs in zip((images, texts), embedded_by_clip(clip, splits), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)


def test_it_begins_as_clip_from_features_too(splits, models, tmp_path):
    clip = models["clip"]

    def extract(pictures):
        with torch.no_grad():
            return extractor(clip, 32)(torch.from_numpy(pictures).permute(0, 3, 1, 2)).numpy()

    write_features(dict(splits), extract, tmp_path, clip, dtype="float32", progress=False)
    features = open_features(tmp_path, splits)
    found = built(vse, features, text_encoder=clip, own_embeddings=True)
    expected, _ = embedded_by_clip(clip, splits)
    torch.testing.assert_close(
        found.encode_dataset(features["val"])[:4], expected, rtol=1e-4, atol=1e-4
    )


def test_own_embeddings_need_one_model(splits, models):
    with pytest.raises(
        PolymodalError, match="own_embeddings begins with those of one model of images"
    ):
        gaussian.Config(image_encoder=models["clip"], own_embeddings=True)
    with pytest.raises(
        PolymodalError, match=r"the images are encoded by convnet and the texts by .*clip"
    ):
        built(gaussian, splits, text_encoder=models["clip"], own_embeddings=True)


def test_the_second_phase_must_read_alike(splits, models):
    config = vse.Config(embed_dim=12)
    other = vse.learn(config, splits["train"])
    system = built(vse, splits, image_encoder=models["clip"], text_encoder=models["clip"])
    with pytest.raises(PolymodalError, match="run with another vocabulary"):
        system.begin_from(system.state_dict(), other)
    tuned = built(
        vse, splits, image_encoder=models["clip"], text_encoder=models["clip"], finetune=True
    )
    described = vse.learn(dataclasses.replace(system.config), splits["train"])
    tuned.begin_from(system.state_dict(), described)
    moving = {name.split(".")[0] for name, p in tuned.named_parameters() if p.requires_grad}
    assert moving == {"images", "captions"}
    assert not any(p.requires_grad for p in tuned.captions.encoder.parameters())


def test_norms_are_frozen_only_while_the_encoder_is_tuned():
    with pytest.raises(PolymodalError, match="freeze_norm is about fine-tuning: give --finetune"):
        vse.Config(freeze_norm=True)
