"""BERT's masking: how many tokens, which, and what becomes of them."""

import torch

from polymodal.systems.grounding.masking import hide

MASK, WORDS = 2, 40
ORDINARY = torch.arange(WORDS) >= 3


def captions(count, length):
    return torch.randint(3, WORDS, (count, length), generator=torch.manual_seed(0))


def test_the_share_is_hidden_in_each_caption_and_one_token_at_least():
    tokens = captions(50, 20)
    tokens[:, 12:] = 0
    tokens[1, 2:] = 0
    tokens[2] = 1
    found = hide(tokens, ORDINARY, mask=MASK, share=0.25)
    counts = found.places.sum(1)
    assert counts[:3].tolist() == [3, 1, 0]
    assert (counts[3:] == 3).all()
    assert not found.places[tokens < 3].any()
    assert torch.equal(found.tokens[~found.places], tokens[~found.places])


def test_eight_of_ten_are_masked_one_is_another_and_one_stays():
    tokens = captions(2000, 20)
    found = hide(tokens, ORDINARY, mask=MASK, share=0.5)
    was, now = tokens[found.places], found.tokens[found.places]
    assert abs((now == MASK).float().mean() - 0.8) < 0.01
    assert abs((now == was).float().mean() - 0.1) < 0.01
    other = now[(now != MASK) & (now != was)]
    assert other.unique().tolist() == list(range(3, WORDS))


def test_every_place_is_chosen_alike():
    found = hide(captions(20_000, 5), ORDINARY, mask=MASK, share=0.2)
    assert (found.places.float().mean(0) - 0.2).abs().max() < 0.015


def test_a_generator_of_its_own():
    tokens = captions(9, 9)
    twice = [
        hide(tokens, ORDINARY, mask=MASK, share=0.3, generator=torch.Generator().manual_seed(s))
        for s in (1, 1, 2)
    ]
    assert torch.equal(twice[0].tokens, twice[1].tokens)
    assert not torch.equal(twice[0].places, twice[2].places)
