"""The GRU against packed sequences: padding is never read."""

import torch
from torch.nn.utils.rnn import pack_padded_sequence

from polymodal.nn.caption_encoders import GRUEncoder

TOKENS = torch.tensor([[1, 5, 6, 2, 0, 0], [1, 4, 4, 7, 8, 2], [1, 2, 0, 0, 0, 0]])
LENGTHS = torch.tensor([4, 6, 2])


def test_it_is_the_last_state_of_packed_sequences():
    torch.manual_seed(0)
    encoder = GRUEncoder(9, words=5, hidden=7).double()
    packed = pack_padded_sequence(
        encoder.embed(TOKENS), LENGTHS, batch_first=True, enforce_sorted=False
    )
    _, last = encoder.gru(packed)
    torch.testing.assert_close(encoder(TOKENS, LENGTHS), last[0], rtol=0, atol=1e-12)


def test_padding_is_never_read():
    encoder = GRUEncoder(9, words=5, hidden=7)
    other = TOKENS.where(TOKENS != 0, 3)
    assert torch.equal(encoder(TOKENS, LENGTHS), encoder(other, LENGTHS))
    shorter = encoder(TOKENS[:1, :4], LENGTHS[:1])
    torch.testing.assert_close(encoder(TOKENS, LENGTHS)[:1], shorter)


def test_width():
    encoder = GRUEncoder(9, words=5, hidden=7)
    assert encoder.dim == 7
    assert encoder(TOKENS, LENGTHS).shape == (3, 7)
    assert encoder.embed.weight.abs().max() <= 0.1
