"""Negative captions against a naive loop in float64, and what they never hold."""

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.base.files import cache_folder
from polymodal.data.caption_tokens import CaptionTokens, read_captions
from polymodal.data.parts_of_speech import NOUN
from polymodal.data.tokens import Tokens
from polymodal.nn.language_models import LanguageModel, small_language_model
from polymodal.systems.grounding.negatives import (
    candidates_of,
    make_negatives,
    single_nouns,
    substitutes,
    whole_words,
)

TEXTS = [
    "A man and a boy play with a dog.",
    "the red van, near a wooden fence!",
    "Is it here?",
    "A zebra and a man-made well-known dog 7.",
    "dog",
]


@pytest.fixture(scope="module")
def model():
    description = small_language_model(TEXTS[:3] + TEXTS[4:], width=16, layers=1, heads=2)
    torch.manual_seed(0)
    found = LanguageModel(description).double()
    for parameter in found.parameters():  # far enough from alike that p and q differ
        torch.nn.init.normal_(parameter, std=0.7)
    return found.train()


def names(model):
    return Tokens.of(model.description).names


def read(model, texts=TEXTS):
    return read_captions(texts, model.description)


def naive(model, texts, *, rerank, candidates, kept):
    """Caption by caption and noun by noun, each alone, in float64."""
    model, reader = model.eval(), Tokens.of(model.description)
    said = names(model)
    captions = read(model, texts)
    found = []
    for row, text in enumerate(texts):
        tokens, lengths = reader.encode_batch([text])
        own = {}
        for place in range(int(lengths[0])):
            word = captions.words[row, place]
            if captions.kinds[row, place] != 1 or tokens[0, place] == model.description["unknown"]:
                continue
            if (captions.words[row] == word).sum() > 1:
                continue
            masked = tokens.clone()
            masked[0, place] = model.description["mask"]
            p = model.logits(masked, lengths)[0, place].softmax(0).tolist()
            q = model.logits(tokens, lengths)[0, place].softmax(0).tolist()
            able = [k for k, name in enumerate(said) if k > 4 and name.isalpha()]
            best = sorted(able, key=lambda k: -p[k])[:candidates]
            if rerank:
                best.sort(key=lambda k: -p[k] / q[k])
            own[place] = [k for k in best if k != tokens[0, place]][:kept]
        found.append(own)
    model.train()
    return found


def told(negatives):
    """The same of what was made in batches."""
    found = []
    for places, tokens in zip(negatives.places.tolist(), negatives.tokens.tolist(), strict=True):
        rows = zip(places, tokens, strict=True)
        found.append({place: [k for k in row if k >= 0] for place, row in rows if place >= 0})
    return found


@pytest.mark.parametrize("rerank", [False, True])
@pytest.mark.parametrize(("candidates", "kept"), [(8, 5), (3, 3), (99, 90)])
def test_they_are_those_of_a_naive_loop(model, monkeypatch, rerank, candidates, kept):
    monkeypatch.setattr("polymodal.systems.grounding.negatives.BLOCK", 2)
    how = {"rerank": rerank, "candidates": candidates, "kept": kept}
    found = make_negatives(model, read(model), **how)
    assert told(found) == naive(model, TEXTS, **how)
    assert found.tokens.shape == (5, 3, kept)
    assert [len(own) for own in told(found)] == [3, 2, 0, 1, 1]
    assert model.training


def test_ranking_again_is_another_order(model):
    found = [
        told(make_negatives(model, read(model), rerank=bool(r), candidates=12, kept=6))
        for r in (0, 1)
    ]
    assert found[0] != found[1]


def test_nouns_that_are_unknown_or_several_tokens_have_none(model):
    found = make_negatives(model, read(model), rerank=True)
    text, captions = TEXTS[3], read(model)
    places = [place for place in found.places[3].tolist() if place >= 0]
    assert [text[captions.starts[3, p] : captions.ends[3, p]] for p in places] == ["dog"]


def test_a_noun_of_several_tokens_is_none_at_any_of_them(model):
    tokens = read(model, ["a boy play with a dog"]).tokens
    column = torch.zeros_like(tokens)
    words = torch.tensor([[-1, 0, 0, 0, 1, 2, 2, -1]])
    captions = CaptionTokens(tokens, torch.tensor([8]), column, column, column + NOUN, words)
    assert single_nouns(captions, model).nonzero().tolist() == [[0, 4]]


def test_they_are_other_words_that_the_model_knows(model):
    found = make_negatives(model, read(model), rerank=True)
    said = {names(model)[k] for k in found.tokens.unique().tolist() if k >= 0}
    assert said <= {name for name in names(model) if name.isalpha()}
    assert said >= {"boy", "van"}
    own = read(model).tokens.gather(1, found.places.clamp(min=0))
    assert not (found.tokens == own[:, :, None])[found.places >= 0].any()


def test_p_and_q_are_those_of_the_words(model):
    captions = read(model, TEXTS[4:])
    found = candidates_of(
        model, captions.tokens, captions.lengths, captions.kinds == 1, substitutes(model), 4
    )
    model.eval()
    seen = model.logits(captions.tokens, captions.lengths)[0, 1].log_softmax(0)
    masked = captions.tokens.clone()
    masked[0, 1] = model.description["mask"]
    hidden = model.logits(masked, captions.lengths)[0, 1].log_softmax(0)
    torch.testing.assert_close(found.log_q[0], seen[found.tokens[0]])
    torch.testing.assert_close(found.log_p[0], hidden[found.tokens[0]])
    assert found.own.tolist() == [captions.tokens[0, 1]]
    assert (found.log_p.diff() <= 0).all()


@pytest.mark.parametrize(
    ("vocabulary", "words"),
    [
        (["[PAD]", "man", "##s", ",", "7", "émeu", "a-b", "[unused1]"], ["man", "émeu"]),
        (["<pad>", "Ġman", "man", "Ġ,", "Ġ7", "Ġwoman", "s"], ["Ġman", "Ġwoman"]),
        (["<pad>", "▁man", "man", "▁", "▁dog"], ["▁man", "▁dog"]),
    ],
)
def test_only_whole_words_can_stand_for_a_noun(vocabulary, words):
    found = whole_words(vocabulary)
    assert [name for name, able in zip(vocabulary, found, strict=True) if able] == words


def test_they_are_made_once_for_the_same_model_captions_and_settings(model, monkeypatch):
    captions = read(model)
    first = make_negatives(model, captions, rerank=True)
    with monkeypatch.context() as patch:
        patch.setattr("polymodal.systems.grounding.negatives.candidates_of", None)
        again = make_negatives(model, captions, rerank=True)
        assert torch.equal(again.tokens, first.tokens)
        assert torch.equal(again.places, first.places)
        assert again.places.dtype == torch.int64
        for other in ({"rerank": False}, {"rerank": True, "kept": 24}):
            with pytest.raises(TypeError, match="not callable"):
                make_negatives(model, captions, **other)
        with pytest.raises(TypeError, match="not callable"):
            make_negatives(model, read(model, TEXTS[1:]), rerank=True)
        with torch.no_grad():
            next(model.parameters())[7] += 1
        with pytest.raises(TypeError, match="not callable"):
            make_negatives(model, captions, rerank=True)


def test_a_damaged_file_of_the_cache(model):
    captions = read(model)
    make_negatives(model, captions, rerank=True, candidates=7, kept=7)
    newest = max((cache_folder() / "negatives").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    newest.write_bytes(newest.read_bytes()[:20])
    with pytest.raises(PolymodalError, match=r"is damaged .* Delete it: it will be made again"):
        make_negatives(model, captions, rerank=True, candidates=7, kept=7)


def test_a_cache_that_cannot_be_written_is_told_before_the_work(model, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("POLYMODAL_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr("polymodal.systems.grounding.negatives.candidates_of", None)
    with pytest.raises(
        PolymodalError, match=r"file is a file\. Set .* POLYMODAL_CACHE to a folder"
    ):
        make_negatives(model, read(model), rerank=True)


def test_captions_without_nouns_and_none_at_all(model):
    assert make_negatives(model, read(model, ["Is it here?"]), rerank=True).tokens.shape == (
        1,
        0,
        25,
    )
    assert make_negatives(model, read(model, []), rerank=True).places.shape == (0, 0)


def test_settings_that_cannot_be(model):
    with pytest.raises(PolymodalError, match="Of 5 candidates 1 to 5 can be kept, not 6"):
        make_negatives(model, read(model), rerank=True, candidates=5, kept=6)
