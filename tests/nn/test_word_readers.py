"""Readers: words at their places, the order that a relation gives, places of objects, bags."""

import pytest
import torch
from torch import Tensor

from polymodal.nn.residual import ImageEncoder
from polymodal.nn.word_readers import WINDOW, BagReader, PlaceReader, floats, mean_about, words_said
from toys import carry_out

RED, BLUE, CUBE, BALL, LEFT, RIGHT, FRONT, BEHIND = range(1, 9)
ALLOWED = torch.zeros(5, 9, dtype=torch.bool)
ALLOWED[[0, 3], RED : BLUE + 1] = True
ALLOWED[[1, 4], CUBE : BALL + 1] = True
ALLOWED[2, LEFT:] = True
OPPOSITES = {LEFT: RIGHT, RIGHT: LEFT, FRONT: BEHIND, BEHIND: FRONT}


def reader(**changes) -> PlaceReader:
    torch.manual_seed(0)
    encoder = ImageEncoder(size=16, width=4, code=6)
    given = {"allowed": ALLOWED, "relation": 2, "opposites": OPPOSITES, "objects": 2, "hidden": 8}
    return PlaceReader(encoder=encoder, **given | changes)


class TrueReader(PlaceReader):
    """Sees a red cube to the left of and behind a blue ball in every picture, almost surely."""

    def forward(self, pictures: Tensor, relations: Tensor) -> tuple[Tensor, Tensor]:
        scores = torch.zeros(*relations.shape, *self.allowed.shape)
        first, second = torch.tensor([RED, CUBE]), torch.tensor([BLUE, BALL])
        cube_first = ((relations == LEFT) | (relations == BEHIND))[..., None]
        scores[..., :2, :].scatter_(-1, torch.where(cube_first, first, second)[..., None], 9.0)
        scores[..., 3:, :].scatter_(-1, torch.where(cube_first, second, first)[..., None], 9.0)
        words = scores.masked_fill(~self.allowed, -torch.inf).log_softmax(-1)
        return words, torch.zeros(*relations.shape, 2, 2)


@pytest.fixture
def true() -> TrueReader:
    return TrueReader(
        encoder=ImageEncoder(size=16, width=4, code=6),
        allowed=ALLOWED,
        relation=2,
        opposites=OPPOSITES,
        objects=2,
    )


def read(judge: PlaceReader, *texts: list[int]) -> list[list[int]]:
    pictures = torch.zeros(1, 3, 16, 16, dtype=torch.uint8)
    return judge.read(pictures, torch.tensor([list(texts)]))[0][0].tolist()


def test_a_true_text_is_read_as_it_is(true):
    texts = [
        [RED, CUBE, LEFT, BLUE, BALL],
        [BLUE, BALL, RIGHT, RED, CUBE],
        [RED, CUBE, BEHIND, BLUE, BALL],
        [BLUE, BALL, FRONT, RED, CUBE],
    ]
    assert read(true, *texts) == texts


def test_a_relation_that_does_not_hold_turns_the_objects_and_is_read_as_its_opposite(true):
    assert read(true, [RED, CUBE, RIGHT, BLUE, BALL]) == [[BLUE, BALL, LEFT, RED, CUBE]]
    assert read(true, [RED, CUBE, FRONT, BLUE, BALL]) == [[BLUE, BALL, BEHIND, RED, CUBE]]


def test_one_wrong_word_does_not_turn_the_relation(true):
    """Three words fit the order that is said, one the other."""
    assert read(true, [RED, CUBE, LEFT, RED, BALL]) == [[RED, CUBE, LEFT, BLUE, BALL]]


def test_where_both_orders_fit_alike_the_relation_holds(true):
    for relation in OPPOSITES:
        assert read(true, [RED, CUBE, relation, RED, CUBE])[0][2] == relation


def test_a_word_that_never_stands_at_its_place_is_wrong_and_says_nothing_of_the_order(true):
    assert read(true, [CUBE, CUBE, LEFT, BLUE, BALL]) == [[RED, CUBE, LEFT, BLUE, BALL]]
    assert read(true, [CUBE, CUBE, RIGHT, BLUE, BALL])[0][2] == LEFT


def test_a_text_without_a_relation_has_a_wrong_word_there(true):
    assert read(true, [RED, CUBE, BLUE, BLUE, BALL]) == [[RED, CUBE, LEFT, BLUE, BALL]]


def test_turned_texts_have_the_opposite_relation(true):
    texts = torch.tensor([[[RED, CUBE, LEFT, BLUE, BALL], [RED, BALL, BEHIND, RED, CUBE]]])
    expected = [[RED, CUBE, RIGHT, BLUE, BALL], [RED, BALL, FRONT, RED, CUBE]]
    assert true.turned(texts)[0].tolist() == expected
    assert texts[0, 0, 2] == LEFT  # as they were
    plain = reader(allowed=ALLOWED[:2], relation=None, opposites=None, objects=0)
    assert plain.turned(texts[..., :2]).equal(texts[..., :2])


def test_readings_of_several_texts_are_those_of_each_alone():
    judge = reader().eval()
    pictures = torch.rand(3, 3, 16, 16)
    texts = torch.stack([torch.tensor([RED, CUBE, relation, BLUE, BALL]) for relation in OPPOSITES])
    words, places = judge.read(pictures, texts.expand(3, 4, 5))
    for k in range(4):
        alone = judge.read(pictures, texts[k].expand(3, 1, 5))
        assert torch.equal(alone[0][:, 0], words[:, k])
        torch.testing.assert_close(alone[1][:, 0], places[:, k])


def test_distributions_are_over_the_words_of_each_place():
    words, places = reader()(torch.rand(2, 3, 16, 16), torch.tensor([[LEFT, FRONT]] * 2))
    assert words.shape == (2, 2, 5, 9)
    assert places.shape == (2, 2, 2, 2)
    assert ((words > -torch.inf) == ALLOWED).all()
    torch.testing.assert_close(words.exp().sum(-1), torch.ones(2, 2, 5))
    assert not torch.equal(words[:, 0], words[:, 1])  # the relation tells


def test_looking_is_a_weighed_mean_about_each_place():
    maps = torch.randn(2, 3, 6, 8, dtype=torch.double)
    places = torch.rand(2, 1, 2, 2, dtype=torch.double)
    found = mean_about(maps, places)
    for b, o in [(0, 0), (0, 1), (1, 1)]:
        x, y = places[b, 0, o]
        weights = torch.zeros(6, 8, dtype=torch.double)
        for row in range(6):
            for column in range(8):
                away = ((column + 0.5) / 8 - x) ** 2 + ((row + 0.5) / 6 - y) ** 2
                weights[row, column] = (-0.5 * away / WINDOW**2).exp()
        expected = (maps[b] * weights / weights.sum()).sum((1, 2))
        torch.testing.assert_close(found[b, 0, o], expected)


def test_looking_outside_the_picture_sees_its_rim():
    maps = torch.arange(4.0).expand(1, 1, 4, 4)
    found = mean_about(maps, torch.tensor([[[[-9.0, 0.5], [9.0, 0.5]]]]))
    torch.testing.assert_close(found.flatten(), torch.tensor([0.0, 3.0]))


def test_words_do_not_move_the_places():
    """They are learned from their truth alone."""
    judge = reader()
    words, _ = judge(torch.rand(2, 3, 16, 16), torch.tensor([[LEFT]] * 2))
    words[..., [0, 1], [RED, CUBE]].sum().backward()
    assert judge.places.weight.grad is None
    assert judge.maps[1][0].weight.grad.abs().sum() > 0


def test_texts_without_relations_are_read_alike():
    judge = reader(allowed=ALLOWED[:2], relation=None, opposites=None, objects=0).eval()
    found, places = judge.read(torch.rand(2, 3, 16, 16), torch.tensor([[[RED, CUBE]]] * 2))
    assert places.shape == (2, 1, 0, 2)
    assert ALLOWED[torch.arange(2), found].all()


def test_bytes_and_shares_are_the_same_pictures():
    pictures = torch.randint(256, (2, 3, 16, 16), dtype=torch.uint8)
    assert torch.equal(floats(pictures), pictures / 255)
    judge, relations = reader(), torch.tensor([[LEFT]] * 2)
    bytewise, shares = judge(pictures, relations), judge(pictures / 255, relations)
    assert all(torch.equal(a, b) for a, b in zip(bytewise, shares, strict=True))


def test_under_autocast_log_probabilities_are_single():
    judge = reader()
    with torch.autocast("cpu", torch.bfloat16):
        words, places = judge(torch.rand(2, 3, 16, 16), torch.tensor([[LEFT]] * 2))
    assert words.dtype == places.dtype == torch.float32
    torch.testing.assert_close(words.exp().sum(-1), torch.ones(2, 1, 5))


COMPILED = """
import torch
from polymodal.nn.word_readers import BagReader, PlaceReader
from polymodal.nn.residual import ImageEncoder

pictures = torch.randint(0, 256, (2, 3, 16, 16), dtype=torch.uint8)
pictures = pictures.to(memory_format=torch.channels_last)
for reader, given in (
    (PlaceReader(encoder=ImageEncoder(size=16, width=4, code=6), allowed=torch.ones(5, 9) > 0,
                 relation=2, opposites={5: 6, 6: 5}, objects=2), [torch.tensor([[5, 6], [6, 5]])]),
    (BagReader(encoder=ImageEncoder(size=16, width=4, code=6), words=9), []),
):
    def look(pictures, *given):
        with torch.autocast("cpu", torch.bfloat16):
            return reader(pictures, *given)

    fast = torch.compile(look, backend="eager", fullgraph=True)(pictures, *given)
    torch.testing.assert_close(fast, look(pictures, *given), rtol=1e-2, atol=1e-2)
"""


@pytest.mark.slow
def test_readers_compile_whole():
    """In a process of its own, as the checks of shapes at run time cannot be compiled."""
    carry_out(COMPILED)


def test_a_bag_has_a_logit_a_word():
    bag = BagReader(encoder=ImageEncoder(size=16, width=4, code=6), words=7, hidden=8)
    assert bag(torch.zeros(3, 3, 16, 16, dtype=torch.uint8)).shape == (3, 7)
    with torch.autocast("cpu", torch.bfloat16):
        assert bag(torch.rand(3, 3, 16, 16)).dtype == torch.float32


def test_what_any_text_of_a_picture_says_is_said():
    texts = torch.tensor([[[1, 2, 0], [3, 3, 0]], [[2, 2, 2], [2, 2, 2]]])
    assert words_said(texts, 5).tolist() == [
        [True, True, True, True, False],
        [False, False, True, False, False],
    ]
