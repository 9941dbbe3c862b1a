"""Language models: transformers' own states and logits, frozen or trained, with a head of their own or a
fresh one."""

import json
import shutil

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from backbones import write_model
from polymodal.base.errors import PolymodalError
from polymodal.data.tokens import Tokens
from polymodal.nn.language_models import (
    ALIKE,
    LanguageModel,
    describe_language_model,
    small_language_model,
)

TEXTS = ["a red square at the left", "something blue"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    kinds = ("masked-bert", "bert", "clip", "dinov2")
    return {kind: str(write_model(place / kind, kind)) for kind in kinds}


@pytest.fixture(scope="module")
def small():
    return small_language_model(TEXTS, width=8, layers=1, heads=2)


def loaded(description):
    torch.manual_seed(1)
    model = LanguageModel(description)
    model.load_pretrained()
    return model


def read(description):
    return Tokens.of(description).encode_batch(TEXTS)


def test_states_and_logits_are_the_models_own(folders):
    from transformers import AutoModelForMaskedLM

    description = describe_language_model(folders["masked-bert"])
    model, own = (
        loaded(description).eval(),
        AutoModelForMaskedLM.from_pretrained(folders["masked-bert"]).eval(),
    )
    tokens, lengths = read(description)
    states, logits = model.states(tokens, lengths), model.logits(tokens, lengths)
    assert states.shape == (2, 8, model.dim)
    for row, length in enumerate(lengths.tolist()):
        alone = own(input_ids=tokens[row : row + 1, :length], output_hidden_states=True)
        torch.testing.assert_close(states[row, :length], alone.hidden_states[-1][0])
        torch.testing.assert_close(logits[row, :length], alone.logits[0])


def test_many_texts_have_the_states_that_each_has_alone(small):
    """On a processor those alike in length are read together."""
    model = loaded(small).eval()
    words = torch.randint(4, 9, (2 * ALIKE + 3, 9), generator=torch.Generator().manual_seed(0))
    lengths = torch.arange(len(words)) % 9 + 1
    states = model.states(words, lengths)
    assert states.shape == (*words.shape, 8)
    for row, length in enumerate(lengths.tolist()):
        alone = model.states(words[row : row + 1, :length], lengths[row : row + 1])
        torch.testing.assert_close(states[row, :length], alone[0])
    model.states(words, lengths).sum().backward()
    assert all(p.grad is not None for p in model.model.base_model.parameters())


def test_logits_at_some_places(folders, small):
    for description in (describe_language_model(folders["masked-bert"]), small):
        model = loaded(description).eval()
        tokens, lengths = read(description)
        places = torch.rand(tokens.shape, generator=torch.manual_seed(0)) < 0.4
        found = model.logits_at(tokens, lengths, places)
        torch.testing.assert_close(found, model.logits(tokens, lengths)[places])
        assert model.states(tokens, lengths).shape[:2] == tokens.shape  # as it was before


@pytest.mark.parametrize("head", [False, True])
def test_a_source_without_a_head_has_states_at_once_and_a_fresh_head_on_request(folders, head):
    from transformers import AutoModel

    description = describe_language_model(folders["bert"], head=head)
    model = loaded(description).eval()
    tokens, lengths = read(description)
    own = AutoModel.from_pretrained(folders["bert"]).eval()
    expected = own(input_ids=tokens[:1]).last_hidden_state
    torch.testing.assert_close(model.states(tokens, lengths)[:1], expected)
    if head:
        assert model.logits(tokens, lengths).shape == (*tokens.shape, 17)
        return
    with pytest.raises(PolymodalError, match=r"bert has no masked-language(.|\n)*mlm --source"):
        model.logits(tokens, lengths)


def test_an_encoder_of_another_kind_has_states(folders):
    description = describe_language_model(folders["clip"])
    assert loaded(description).states(*read(description)).shape == (2, 8, 16)
    with pytest.raises(PolymodalError, match="clip_text_model, which has no head for masked words"):
        describe_language_model(folders["clip"], head=True)


def test_it_learns_until_it_is_frozen(small):
    model = loaded(small).train()
    assert model.states(*read(small)).requires_grad
    assert model.freeze() is model
    model.train()
    assert not any(module.training for module in model.modules())
    assert not any(p.requires_grad for p in model.parameters())
    assert not model.logits(*read(small)).requires_grad
    with torch.enable_grad():
        model.requires_grad_(True)
        assert not model.states(*read(small)).requires_grad


def test_a_description_builds_it_again_without_its_folder(folders, tmp_path):
    copy = shutil.copytree(folders["masked-bert"], tmp_path / "copy")
    description = json.loads(json.dumps(describe_language_model(str(copy))))
    first = loaded(description).eval()
    shutil.rmtree(copy)
    again = LanguageModel(description).eval()
    again.load_state_dict(first.state_dict())
    assert torch.equal(again.logits(*read(description)), first.logits(*read(description)))


def test_our_own_has_the_words_of_the_captions_and_a_head(small):
    model = loaded(json.loads(json.dumps(small)))
    assert model.dim == 8
    assert model.logits(*read(small)).shape == (2, 8, 5 + 8)
    with pytest.raises(PolymodalError, match="12 is no multiple of 5"):
        small_language_model(TEXTS, width=12, layers=1, heads=5)


def write_run(folder, learned, weights=None):
    folder.mkdir()
    (folder / "learned.json").write_text(json.dumps(learned))
    if weights is not None:
        save_file(weights, folder / "model.safetensors")
    return str(folder)


def test_a_run_is_a_source(small, tmp_path):
    first = loaded(small).eval()
    weights = {f"words.{k}": v for k, v in first.state_dict().items()} | {"other": torch.ones(1)}
    run = write_run(tmp_path / "run", {"words": small}, weights)
    description = describe_language_model(run)
    assert description == json.loads(json.dumps({**small, "source": run}))
    again = loaded(description).eval()
    assert torch.equal(again.logits(*read(small)), first.logits(*read(small)))


def test_weights_that_are_shared_are_kept_once(small, folders):
    for description in (small, describe_language_model(folders["masked-bert"])):
        model = loaded(description)
        names = {name for name in model.state_dict() if "decoder" in name}
        assert not names
        last, first = model.model.cls.predictions.decoder, model.model.bert.embeddings
        again = nn.Sequential(LanguageModel(description))
        again.load_state_dict(nn.Sequential(model).state_dict())
        assert again[0].model.cls.predictions.decoder.weight.equal(last.weight)
        assert last.weight is first.word_embeddings.weight
        with pytest.raises(RuntimeError, match="Missing key"):
            model.load_state_dict({})


def test_runs_without_words_or_weights(small, tmp_path):
    with pytest.raises(PolymodalError, match="no part 'words', only size"):
        describe_language_model(write_run(tmp_path / "images", {"size": 3}))
    description = describe_language_model(write_run(tmp_path / "begun", {"words": small}))
    with pytest.raises(
        PolymodalError, match=r"begun/model.safetensors has no weights .* to finish"
    ):
        loaded(description)


def test_no_language_model(folders, tmp_path):
    with pytest.raises(PolymodalError, match="is a dinov2, which does not encode texts alone"):
        describe_language_model(folders["dinov2"])
    with pytest.raises(PolymodalError, match="No text model could be opened at"):
        describe_language_model(str(tmp_path / "no/where"))
