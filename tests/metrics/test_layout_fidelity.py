"""Layout fidelity on cases made by hand, and against a loop over all pairs."""

import math

import pytest
import torch

from polymodal.metrics.layout_fidelity import FoundObjects, Objects, layout_fidelity

BOX = [0.0, 0.0, 0.4, 0.4]
AWAY = [0.5, 0.5, 0.9, 0.9]


def true(*objects: tuple[list[float], int]) -> Objects:
    boxes = torch.tensor([box for box, _ in objects]).reshape(-1, 4)
    return Objects(boxes, torch.tensor([kind for _, kind in objects], dtype=torch.long))


def found(*objects: tuple[list[float], int, float]) -> FoundObjects:
    plain = true(*[(box, kind) for box, kind, _ in objects])
    return FoundObjects(plain.boxes, plain.classes, torch.tensor([s for *_, s in objects]))


CASES = {
    "all are there": ([(BOX, 1), (AWAY, 2)], [(AWAY, 2, 0.9), (BOX, 1, 0.8)], (100, 100, 0)),
    "one has another class": ([(BOX, 1), (AWAY, 2)], [(AWAY, 2, 0.9), (BOX, 3, 0.8)], (50, 100, 1)),
    "one is found twice": ([(BOX, 1), (AWAY, 2)], [(BOX, 1, 0.9), (BOX, 1, 0.8)], (50, 50, 1)),
    "nothing is found": ([(BOX, 1), (AWAY, 2)], [], (0, 0, 0)),
    "one is elsewhere": ([(BOX, 1)], [(AWAY, 1, 0.9)], (0, 0, 1)),
    "half of it is enough": ([(BOX, 1)], [([0.0, 0, 0.4, 0.2], 1, 0.9)], (100, 100, 0)),
    "less is not": ([(BOX, 1)], [([0.0, 0, 0.4, 0.19], 1, 0.9)], (0, 0, 1)),
}


@pytest.mark.parametrize("case", CASES)
def test_by_hand(case):
    objects, shown, (fidelity, placed, spurious) = CASES[case]
    told = layout_fidelity([(true(*objects), found(*shown))])
    assert (told["fidelity"], told["placed"], told["spurious"]) == (fidelity, placed, spurious)


def test_the_surest_chooses_first():
    """It takes the object that it overlaps most, and leaves the other nothing that is near enough."""
    two = true(([0.0, 0, 1, 1], 0), ([0.0, 0.3, 1, 1.3], 0))
    both = [([0.0, 0.1, 1, 1.1], 0), ([0.0, 0.0, 1, 0.55], 0)]
    for scores, right in (((0.9, 0.8), 50), ((0.8, 0.9), 100)):
        shown = found(*[(box, kind, s) for (box, kind), s in zip(both, scores, strict=True)])
        assert layout_fidelity([(two, shown)])["fidelity"] == right


def greedy(objects: Objects, shown: FoundObjects, any_class: bool) -> int:
    free, count = set(range(len(objects.boxes))), 0
    for f in sorted(range(len(shown.boxes)), key=lambda f: -shown.scores[f].item()):
        best, place = 0.5, None
        for g in free:
            if any_class or objects.classes[g] == shown.classes[f]:
                a, b = objects.boxes[g].tolist(), shown.boxes[f].tolist()
                wide = max(0, min(a[2], b[2]) - max(a[0], b[0]))
                shared = wide * max(0, min(a[3], b[3]) - max(a[1], b[1]))
                both = sum((c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)) - shared
                if shared / both >= best:
                    best, place = shared / both, g
        if place is not None:
            free.remove(place)
            count += 1
    return count


def test_it_is_that_of_a_loop():
    chance = torch.manual_seed(0)
    pictures = []
    for g in range(8):
        for f in range(8):
            boxes = torch.rand(g + f, 4, generator=chance)
            boxes = torch.cat([boxes[:, :2] / 4, 0.6 + boxes[:, 2:] / 4], 1)
            kinds = torch.randint(2, (g + f,), generator=chance)
            shown = FoundObjects(boxes[g:], kinds[g:], torch.rand(f, generator=chance))
            pictures.append((Objects(boxes[:g], kinds[:g]), shown))
    told = layout_fidelity(pictures)
    right, placed = (
        sum(greedy(*pair, any_class) for pair in pictures) for any_class in (False, True)
    )
    assert 0 < right < placed < 224
    assert (told["objects"], told["found"], told["pictures"]) == (224, 224, 64)
    assert told["fidelity"] == pytest.approx(100 * right / 224)
    assert told["placed"] == pytest.approx(100 * placed / 224)
    assert told["spurious"] == pytest.approx((224 - right) / 64)


def test_without_objects_it_is_not_known():
    told = layout_fidelity([(true(), found((BOX, 0, 1.0)))])
    assert math.isnan(told["fidelity"])
    assert told["spurious"] == 1
    assert math.isnan(layout_fidelity([])["spurious"])
