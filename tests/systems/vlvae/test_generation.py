"""A VLVAE in use: pictures of a text, words for a picture, pairs from nothing; and what it cannot do."""

import re

import numpy as np
import pytest
import torch
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data.folder import Folder, open_folder
from polymodal.maths.likelihoods import unit
from polymodal.runs.loading import load
from polymodal.runs.run_folder import Run
from polymodal.systems.vlvae import generation as speaking
from polymodal.systems.vlvae.generation import pictures
from polymodal.systems.vlvae.vlvae_module import VLVAE
from vlvaes import stirred, tiny, train_vlvae

TEXT = "a red square at the left"
WORDS = r"a, at, something, square, the, blue, green, red, white, bottom, left, right, top"


@pytest.fixture(scope="module")
def splits(squares) -> Folder:
    return open_folder(squares, size=16, progress=False)


@pytest.fixture(scope="module")
def system(splits) -> VLVAE:
    return stirred(tiny(splits["train"]))


@pytest.fixture(scope="module")
def shifted(splits) -> VLVAE:
    """A model whose densities lie at 3, −3 and 6, each of width 1."""
    found = tiny(splits["train"], flow="gaussian")
    densities = found.densities
    places = {densities.aggregate.flow: 3, densities.true.flow: -3, densities.prior: 6}
    with torch.no_grad():
        for flow, place in places.items():
            flow.theta[:, 0] = place
    return found.eval()


def test_pictures_of_a_text(system):
    drawn = system.generate(TEXT, 3)
    assert drawn.shape == (3, 16, 16, 3)
    assert drawn.dtype == np.uint8
    assert not np.array_equal(drawn[0], drawn[1])
    assert system.generate(TEXT).shape == (1, 16, 16, 3)
    assert not np.array_equal(drawn, system.generate("something blue", 3))
    assert not np.array_equal(drawn, system.generate(TEXT, 3, by="true"))


def test_pairs_from_nothing(system):
    found = system.sample(5)
    assert found.images.shape == (5, 16, 16, 3)
    assert found.images.dtype == np.uint8
    assert len(found.texts) == 5
    assert len(set(found.texts)) > 1
    system.words.encode([text for text in found.texts if text])  # they are words that it knows
    assert not np.array_equal(found.images, system.sample(5, prior="normal").images)


def test_words_for_pictures_in_any_form(system, splits, squares):
    names = splits["val"].ids[:3]
    paths = [squares / name for name in names]
    mixed = [str(paths[0]), Image.open(paths[1]), np.asarray(Image.open(paths[2]))]
    said = system.caption(paths)
    assert system.caption(mixed) == said
    assert system.caption(splits["val"].images(range(3))) == said
    assert len(said) == 3
    assert system.caption([]) == []


def test_a_caption_is_what_the_decoder_finds_likeliest(system, splits):
    """Word by word, each with its probability, blanks left out."""
    pictures = splits["val"].images(range(4))
    images = torch.from_numpy(pictures).permute(0, 3, 1, 2)
    words, chances = torch.zeros(4, 0, dtype=torch.long), []
    with torch.no_grad():
        code = system.model.code(system.model.posterior(images, None).mean)
        for _ in range(system.words.length):
            guess = torch.cat([words, words.new_zeros(4, 1)], 1)
            best = system.model.text_decoder(code, guess)[:, -1].softmax(-1).max(-1)
            words = torch.cat([words, best.indices[:, None]], 1)
            chances.append(best.values)
    assert system.caption(pictures) == system.words.decode(words)
    for found, row, own in zip(
        system.describe(pictures), words, torch.stack(chances, 1), strict=True
    ):
        said = row > 0
        assert found.words == tuple(system.words.words[number] for number in row[said])
        assert found.probabilities == pytest.approx(own[said].tolist(), rel=1e-4)


def test_one_seed_one_picture_and_chance_is_left_as_it_was(system):
    torch.manual_seed(3)
    state = torch.get_rng_state()
    first, pairs = system.generate(TEXT, 2), system.sample(2)
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(4)
    assert np.array_equal(system.generate(TEXT, 2), first)
    again = system.sample(2)
    assert np.array_equal(again.images, pairs.images)
    assert again.texts == pairs.texts
    assert not np.array_equal(system.generate(TEXT, 2, seed=1), first)
    assert not np.array_equal(system.sample(2, seed=1).images, pairs.images)


@torch.no_grad()
def test_z_is_drawn_from_what_was_asked_for(shifted):
    torch.manual_seed(0)
    texts = shifted.words.encode([TEXT]).expand(2000, -1)
    drawn = {
        3: shifted.latents(texts, "aggregate"),
        -3: shifted.latents(texts, "true"),
        6: shifted.prior_latents(2000, None),
        0: shifted.prior_latents(2000, "normal"),
    }
    for place, z in drawn.items():
        assert z.shape == (2000, 4)
        torch.testing.assert_close(z.mean(0), torch.full((4,), float(place)), rtol=0, atol=0.1)
        torch.testing.assert_close(z.std(0), torch.ones(4), rtol=0, atol=0.1)
    torch.manual_seed(0)
    named = shifted.prior_latents(5, "aggregate")
    torch.manual_seed(0)
    assert torch.equal(named, shifted.prior_latents(5, None))


def test_without_a_learned_prior_it_is_the_normal(splits):
    system = stirred(tiny(splits["train"], densities=("aggregate",)))
    assert np.array_equal(system.sample(3).images, system.sample(3, prior="normal").images)


def test_bytes_come_back_as_they_were():
    every = torch.arange(256, dtype=torch.uint8).reshape(1, 1, 16, 16).expand(1, 3, -1, -1)
    assert np.array_equal(pictures(unit(every)), every.permute(0, 2, 3, 1).numpy())
    assert pictures(torch.tensor([0.0, 1.0, -1.0, 2.0]).reshape(4, 1, 1, 1).expand(-1, 3, 1, 1))[
        :, 0, 0, 0
    ].tolist() == [0, 255, 0, 255]


def test_blocks_change_nothing(system, splits, monkeypatch):
    images = splits["val"].images(range(7))
    whole = system.caption(images), system.generate(TEXT, 7)
    monkeypatch.setattr(speaking, "BLOCK", 3)
    assert system.caption(images) == whole[0]
    apart = np.abs(system.generate(TEXT, 7).astype(int) - whole[1].astype(int))
    assert apart.max() <= 1  # products of other shapes may round otherwise


def test_it_speaks_in_evaluation_mode(splits):
    """Whatever mode it is in, so that one picture is drawn alike alone and among others."""
    system = stirred(tiny(splits["train"], dropout=0.5))
    images = splits["val"].images(range(4))
    expected = system.generate(TEXT, 2), system.caption(images), system.sample(2).texts
    for ask, answer in (
        (lambda: system.generate(TEXT, 2), expected[0]),
        (lambda: system.caption(images), expected[1]),
        (lambda: system.sample(2).texts, expected[2]),
    ):
        system.train()
        assert np.array_equal(ask(), answer)


def test_a_run_speaks_as_the_system_that_it_keeps(squares, tmp_path, splits):
    train_vlvae(squares, tmp_path, max_steps=2)
    system, fresh = load(tmp_path), tiny(splits["train"])
    Run(tmp_path).restore(fresh)
    assert np.array_equal(system.generate(TEXT, 2), fresh.generate(TEXT, 2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a pink square", r"Unknown word 'pink'\..* Known: a, at, blue.*white\. A text is like 'a \w+ "),
        ("a rad square", "Unknown word 'rad'. Did you mean 'red'?"),
        (f"{TEXT} bottom", rf"has 7 words, but there is room for 6\..* The words are: {WORDS}\."),
        ("", rf"The text '' is empty\. Say a word at least\. The words are: {WORDS}\."),
        (" - ", "is empty"),
        ("red", rf"has 1 words, but the shortest .* has 2\. Say more\. The words are: {WORDS}\."),
    ],
)  # fmt: skip
def test_texts_that_it_does_not_understand(system, text, message):
    with pytest.raises(PolymodalError, match=message):
        system.generate(text)


@pytest.mark.parametrize(("by", "named"), [("aggregate", "q_agg"), ("true", "q_true")])
def test_a_model_without_a_text_posterior_says_what_to_do(splits, by, named):
    system = tiny(splits["train"], densities=("prior",))
    with pytest.raises(PolymodalError, match=rf"has no {named}\(z\|y\)\. Draw from a prior, "
                       rf"without a text, or train one with '{by}' among --densities"):  # fmt: skip
        system.generate(TEXT, by=by)
    alone = tiny(splits["train"], densities=(), flow_share=0.0)
    with pytest.raises(PolymodalError, match="and a --flow-share above 0"):
        alone.generate(TEXT, by=by)


@pytest.mark.parametrize(
    ("learned", "by", "way"),
    [("aggregate", "true", "by q_agg(z|y), its default"), ("true", "aggregate", "--by true")],
)
def test_a_model_with_the_other_text_posterior_says_so(splits, learned, by, way):
    system = tiny(splits["train"], densities=(learned,))
    with pytest.raises(PolymodalError, match=re.escape(way)):
        system.generate(TEXT, by=by)


def test_a_model_without_a_prior_says_what_to_do(splits):
    system = tiny(splits["train"], densities=("aggregate",))
    with pytest.raises(PolymodalError, match="did not learn the aggregate prior. Ask for the prior "
                       r"'normal' \(--prior normal\), or train it with 'prior' among"):  # fmt: skip
        system.sample(prior="aggregate")


@pytest.mark.parametrize("infer_from", ["text", "both"])
def test_a_model_that_sees_no_picture_alone_cannot_caption(splits, infer_from):
    system = tiny(splits["train"], infer_from=infer_from)
    with pytest.raises(PolymodalError, match=f"This model infers from {infer_from}, so it cannot "
                       "caption an image alone. Train one with --infer-from image"):  # fmt: skip
        system.caption([np.zeros((16, 16, 3), np.uint8)])


def test_other_requests_that_cannot_be(system):
    with pytest.raises(PolymodalError, match="count must be 1 or more, not 0"):
        system.generate(TEXT, 0)
    with pytest.raises(PolymodalError, match="count must be 1 or more, not -1"):
        system.sample(-1)
    with pytest.raises(
        PolymodalError, match=r"posterior of a text 'agg'\..* Known: aggregate, true"
    ):
        system.generate(TEXT, by="agg")
    with pytest.raises(PolymodalError, match=r"Unknown prior 'norm'\. Did you mean 'normal'"):
        system.sample(prior="norm")
    with pytest.raises(PolymodalError, match=r"There is no image at nowhere\.png"):
        system.caption(["nowhere.png"])


def test_pictures_come_as_a_list(system):
    with pytest.raises(PolymodalError, match=r"takes a list of pictures, such as \['image.png'\]"):
        system.caption("image.png")
