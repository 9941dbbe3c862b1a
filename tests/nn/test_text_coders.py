"""Texts encoded and decoded: what is taught is what is spoken, nothing sees what comes later."""

import pytest
import torch
from torch import nn
from torch.autograd import gradcheck

from polymodal.nn.text_coders import (
    TextDecoder,
    TextEncoder,
    TransformerDecoder,
    before,
    places,
)

WORDS, CODE = 7, 12
KINDS = [TextDecoder, TransformerDecoder]


def made(kind, **options):
    """A decoder in evaluation mode, in double precision."""
    torch.manual_seed(0)
    options |= {"width": 16} if kind is TransformerDecoder else {"embedding": 5}
    return kind(words=WORDS, code=CODE, **options).double().eval()


def sharpened(decoder):
    """Logits large enough for words to differ in probability."""
    last = [m for m in decoder.head.modules() if isinstance(m, nn.Linear)][-1]
    with torch.no_grad():
        last.weight.mul_(8)
    return decoder


def codes(count):
    return torch.randn(count, CODE, dtype=torch.double, generator=torch.manual_seed(1))


def texts(count, length=5):
    return torch.randint(0, WORDS, (count, length), generator=torch.manual_seed(2))


@pytest.mark.parametrize("kind", KINDS)
def test_logits_do_not_depend_on_the_word_there_or_later(kind):
    decoder, code, said = made(kind), codes(3), texts(3)
    logits = decoder(code, said)
    assert logits.shape == (3, 5, WORDS)
    for t in range(5):
        other = said.clone()
        other[:, t:] = (said[:, t:] + 1) % WORDS
        found = decoder(code, other)
        torch.testing.assert_close(found[:, : t + 1], logits[:, : t + 1], rtol=0, atol=1e-12)
        if t < 4:
            assert (found[:, t + 1] - logits[:, t + 1]).abs().amax(-1).min() > 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_every_place_sees_the_code(kind):
    decoder, said = made(kind), texts(1)
    first, second = (decoder(code[None], said) for code in codes(2))
    assert (first - second).abs().amax(-1).min() > 1e-6


def test_the_gru_sees_the_word_before_its_state_and_the_code():
    decoder, code, said = made(TextDecoder), codes(2), texts(2)
    cell = nn.GRUCell(5 + CODE, CODE).double()
    cell.load_state_dict(
        {name.removesuffix("_l0"): value for name, value in decoder.gru.state_dict().items()}
    )
    state = torch.zeros(2, CODE, dtype=torch.double)
    word = torch.full((2,), WORDS)
    logits = []
    for t in range(5):
        state = cell(torch.cat([decoder.embed(word), code], 1), state)
        logits.append(decoder.head(state))
        word = said[:, t]
    torch.testing.assert_close(decoder(code, said), torch.stack(logits, 1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_decoding_is_the_argmax_of_what_is_taught_step_by_step(kind):
    decoder, code = sharpened(made(kind)), codes(6)
    said = torch.zeros(6, 5, dtype=torch.long)
    for t in range(5):
        said[:, t] = decoder(code, said)[:, t].argmax(-1)
    found, chances = decoder.decode(code, 5)
    assert torch.equal(found, said)
    assert len(found.unique(dim=0)) > 1
    expected = decoder(code, said).softmax(-1).float()
    torch.testing.assert_close(chances, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_samples_follow_the_probabilities(kind):
    decoder, count = sharpened(made(kind)), 20_000
    code = codes(1).expand(count, -1)
    said, chances = decoder.decode(code, 2, torch.Generator().manual_seed(0))
    frequency = torch.bincount(said[:, 0] * WORDS + said[:, 1], minlength=WORDS**2) / count
    pairs = torch.cartesian_prod(torch.arange(WORDS), torch.arange(WORDS))
    with torch.no_grad():
        chance = decoder(codes(1).expand(len(pairs), -1), pairs).softmax(-1)
    chance = chance.gather(2, pairs[:, :, None]).prod(1)[:, 0]
    assert chance.sum() == pytest.approx(1)
    assert chance.max() > 2 / WORDS**2
    spread = (chance * (1 - chance) / count).sqrt()
    assert ((frequency - chance).abs() <= 4.5 * spread + 1 / count).all()
    torch.testing.assert_close(chances.sum(-1), torch.ones(count, 2), rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_samples_are_the_generators(kind):
    decoder, code = made(kind), codes(20)
    first, again, other = (
        decoder.decode(code, 4, torch.Generator().manual_seed(seed))[0] for seed in (3, 3, 4)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_a_frozen_decoder_passes_gradients_and_only_its_gru_trains():
    """cuDNN refuses a backward pass through a GRU that is in evaluation mode."""
    decoder = made(TextDecoder, dropout=0.5).train().requires_grad_(False).eval()
    training = [name for name, module in decoder.named_modules() if module.training]
    assert training == ["gru"]
    before_it = {name: value.clone() for name, value in decoder.state_dict().items()}
    code, said = codes(2).requires_grad_(), texts(2, 3)
    assert gradcheck(lambda code: decoder(code, said), code)
    assert torch.equal(decoder(code, said), decoder(code, said))
    assert all(torch.equal(decoder.state_dict()[name], old) for name, old in before_it.items())
    decoder.train()
    assert all(module.training for module in decoder.modules())


def test_dropout_and_batch_norm_are_in_the_head():
    decoder = made(TextDecoder, dropout=0.5).train()
    code, said = codes(4), texts(4)
    assert not torch.equal(decoder(code, said), decoder(code, said))
    kinds = [type(m) for m in decoder.head.modules()]
    assert kinds.count(nn.Linear) == 3
    assert kinds.count(nn.BatchNorm1d) == kinds.count(nn.Dropout) == 2


def test_the_text_encoder_is_the_last_state():
    torch.manual_seed(0)
    encoder = TextEncoder(words=WORDS, code=CODE, embedding=5).double()
    said = texts(3)
    states, _ = encoder.gru(encoder.embed(said))
    assert encoder.dim == CODE
    torch.testing.assert_close(encoder(said), states[:, -1], rtol=0, atol=1e-12)
    assert (encoder(said) - encoder(said.flip(1))).abs().max() > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_an_encoder_and_a_decoder_learn_eight_texts(kind):
    said = texts(8)
    assert len(said.unique(dim=0)) == 8
    decoder = made(kind, dropout=0.0).float().train()
    encoder = TextEncoder(words=WORDS, code=CODE, embedding=5)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], 1e-2)
    for _ in range(150):
        loss = nn.functional.cross_entropy(decoder(encoder(said), said).mT, said)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    found, _ = decoder.eval().decode(encoder(said), 5)
    assert torch.equal(found, said)


def test_places_are_apart():
    found = places(9, 16, torch.device("cpu"))
    assert found.shape == (9, 16)
    assert torch.pdist(found).min() > 0.5


def test_the_word_before_the_first_is_none_of_the_text():
    assert before(texts(4), WORDS)[:, 0].eq(WORDS).all()
