"""Text models of transformers: their own output, whatever the padding; frozen; and what they lack."""

import json
import shutil

import pytest
import torch
from torch.nn.functional import normalize

from backbones import write_model
from polymodal.base.errors import PolymodalError
from polymodal.data.tokens import Tokens
from polymodal.nn.caption_encoders import FrozenText
from polymodal.nn.image_encoders import Standardised
from polymodal.nn.named_encoders import describe, describe_text, load_pretrained, own_projection
from polymodal.nn.towers import Points, begin_as

TEXTS = ["a red square at the left", "something blue"]
KINDS = ["clip", "siglip", "bert"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    return {kind: write_model(place / kind, kind) for kind in [*KINDS, "dinov2"]}


def read(description, texts):
    return Tokens.of(description).encode_batch(texts)


def loaded(description):
    encoder = FrozenText(description)
    load_pretrained(encoder)
    return encoder


def own_output(folder, kind):
    """What transformers gives each text alone, tokenized as its processor does."""
    from transformers import AutoModel, AutoTokenizer

    model, tokenizer = (
        AutoModel.from_pretrained(folder).eval(),
        AutoTokenizer.from_pretrained(folder),
    )
    padding = "max_length" if kind == "siglip" else False
    found = []
    for text in TEXTS:
        ids = tokenizer([text], padding=padding, return_tensors="pt")["input_ids"]
        if kind == "bert":
            found.append(model(input_ids=ids).last_hidden_state.mean(1))
        else:
            found.append(model.text_model(input_ids=ids).pooler_output)
    return torch.cat(found).detach()


@pytest.mark.parametrize("kind", KINDS)
def test_the_encoding_is_the_models_own_whatever_the_padding(folders, kind):
    description = describe_text(str(folders[kind]))
    encoder = loaded(description)
    found = encoder(*read(description, TEXTS))
    assert found.shape == (2, encoder.dim)
    torch.testing.assert_close(found, own_output(folders[kind], kind))
    alone = torch.cat([encoder(*read(description, [text])) for text in TEXTS])
    torch.testing.assert_close(alone, found)


@pytest.mark.parametrize("kind", KINDS)
def test_it_stays_as_it_is(folders, kind):
    description = describe_text(str(folders[kind]))
    encoder = loaded(description).train()
    assert not any(p.requires_grad for p in encoder.parameters())
    assert not any(module.training for module in encoder.model.modules())
    assert not encoder(*read(description, TEXTS)).requires_grad


def test_a_description_builds_it_again_without_its_folder(folders, tmp_path):
    copy = shutil.copytree(folders["clip"], tmp_path / "copy")
    description = json.loads(json.dumps(describe_text(str(copy))))
    first = loaded(description)
    shutil.rmtree(copy)
    again = FrozenText(description)
    again.load_state_dict(first.state_dict())
    assert torch.equal(again(*read(description, TEXTS)), first(*read(description, TEXTS)))


def test_loading_one_tower_says_nothing_of_the_other(folders, capsys):
    loaded(describe_text(str(folders["clip"])))
    printed = capsys.readouterr()
    assert printed.out + printed.err == ""


@pytest.mark.parametrize("standardised", [False, True])
def test_towers_begin_as_clip_does(folders, standardised):
    from transformers import CLIPModel

    model = CLIPModel.from_pretrained(folders["clip"]).eval()
    description = describe_text(str(folders["clip"]))
    tokens, lengths = read(description, TEXTS)
    there = torch.arange(tokens.shape[1]) < lengths[:, None]
    expected = model.text_projection(
        model.text_model(input_ids=tokens, attention_mask=there.long()).pooler_output
    )
    encoder = loaded(description)
    found = encoder(tokens, lengths)
    if standardised:
        encoder = Standardised(torch.nn.Identity(), 16)
        encoder.fit(found.mean(0), found.std(0))
    tower = Points(encoder, 12)
    begin_as(tower, own_projection(str(folders["clip"]), "text"))
    given = (found,) if standardised else (tokens, lengths)
    torch.testing.assert_close(tower(*given), normalize(expected, dim=-1))


def test_siglip_has_no_projection(folders):
    for side in ("visual", "text"):
        assert torch.equal(own_projection(str(folders["siglip"]), side), torch.eye(16))


def test_a_width_that_is_not_the_models_own(folders):
    tower = Points(loaded(describe_text(str(folders["clip"]))), 24)
    with pytest.raises(PolymodalError, match="its width: --embed-dim 12, not 24"):
        begin_as(tower, own_projection(str(folders["clip"]), "text"))


def test_a_model_with_no_joint_space(folders):
    with pytest.raises(PolymodalError, match="has no joint space of images and texts"):
        own_projection(str(folders["bert"]), "text")


def test_dinov2_takes_whole_patches(folders):
    assert describe(str(folders["dinov2"]), 32)["config"]["image_size"] == 28
    with pytest.raises(PolymodalError, match=r"a multiple of 8 pixels .* Add ',size=24' to --data"):
        describe(str(folders["dinov2"]), 25)


def test_an_unknown_name_and_a_missing_folder(tmp_path):
    with pytest.raises(PolymodalError, match=r"text encoder 'grru'\. Did you mean 'gru'"):
        describe_text("grru")
    with pytest.raises(
        PolymodalError, match=r"No text model could be opened at(.|\n)*tokenizer.json"
    ):
        describe_text(str(tmp_path / "no/where"))


@pytest.mark.parametrize("kind", ["bert", "siglip"])
def test_a_folder_without_its_tokenizer(tmp_path, kind):
    folder = write_model(tmp_path / "model", kind)
    for file in folder.glob("tokenizer*"):
        file.unlink()
    with pytest.raises(
        PolymodalError, match=r"has no tokenizer of its own(.|\n)*tokenizer.json and"
    ):
        describe_text(str(folder))


def test_a_folder_without_weights(tmp_path):
    folder = write_model(tmp_path / "model", "bert")
    description = describe_text(str(folder))
    (folder / "model.safetensors").unlink()
    with pytest.raises(PolymodalError, match="has no weights that could be loaded"):
        loaded(description)


def test_an_image_model_reads_nothing(folders):
    with pytest.raises(PolymodalError, match="is a dinov2, which does not encode texts alone"):
        describe_text(str(folders["dinov2"]))
