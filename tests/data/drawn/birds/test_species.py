"""The classes: counted, apart from each other, and described by what their birds show."""

import hashlib

import numpy as np
import pytest

from polymodal.data.drawn import birds
from polymodal.data.drawn.birds.bird_captions import captions
from polymodal.data.drawn.birds.plumage import ATTRIBUTES, GROUPS, PARTS, RGB
from polymodal.data.drawn.birds.species import (
    APART,
    GENERA,
    SPECIES_OF_A_GENUS,
    TRAIN,
    UNSEEN,
    VAL,
    species,
)

STARTS = np.cumsum([0, *map(len, GROUPS.values())])


def test_sixty_classes_are_divided() -> None:
    assert (len(TRAIN), len(VAL), len(UNSEEN)) == (35, 10, 15)
    assert sorted(TRAIN + VAL + UNSEEN) == list(range(60))
    assert len(ATTRIBUTES) == len(set(ATTRIBUTES)) == 64 and len(PARTS) == 15


def test_any_two_classes_are_apart() -> None:
    usual = species().usual
    assert usual.shape == (60, 18)
    for k in range(60):
        others = np.delete(usual, k, 0)
        assert (others != usual[k]).sum(1).min() >= APART


def test_kin_are_nearer_than_others() -> None:
    usual = species().usual
    distances = (usual[:, None] != usual).sum(-1)
    genus = np.arange(60) // SPECIES_OF_A_GENUS
    same = (genus[:, None] == genus) & ~np.eye(60, dtype=bool)
    assert distances[same].mean() < 0.6 * distances[genus[:, None] != genus].mean()
    for k, words in enumerate(GENERA.values()):
        for row in usual[SPECIES_OF_A_GENUS * k : SPECIES_OF_A_GENUS * (k + 1)]:
            assert (GROUPS["size"][row[0]], GROUPS["beak shape"][row[3]]) == words


def test_attributes_are_shares_of_birds() -> None:
    table = species().attributes
    assert table.dtype == np.float32 and table.shape == (60, 64)
    assert table.min() == 0 and table.max() == 1 and len(np.unique(table.round(6))) > 5
    sums = np.add.reduceat(table.astype(float), STARTS[:-1], axis=1)
    assert np.allclose(sums, 1)
    # each of the 18 groups sums to 1, which leaves 64 - 18 + 1 directions
    assert np.linalg.matrix_rank(table) == 47
    assert np.linalg.matrix_rank(table[list(TRAIN + VAL)]) == 45


def test_what_is_usual_in_unseen_classes_is_usual_in_seen_ones() -> None:
    often = species().attributes > 0.5
    assert (often[list(TRAIN)].sum(0) >= 2)[often[list(UNSEEN)].any(0)].all()
    assert often[list(TRAIN)].any(0).all()


def test_birds_vary_about_their_class_as_its_attributes_say() -> None:
    split = birds.named(train=35 * 500).splits()["train"]
    shown, table = split.individuals, split.attributes
    assert shown.shape == (17_500, 64) and (shown.sum(1) == 18).all()
    means = np.stack([shown[split.labels == k].mean(0) for k in TRAIN])
    expected = table[list(TRAIN)].astype(float)
    spread = np.sqrt(expected * (1 - expected) / 500)
    assert (np.abs(means - expected) <= 5 * spread + 1e-6).all()


def test_names_are_true_and_unique() -> None:
    known = species()
    assert len(set(known.names)) == 60
    assert all(name.split()[-1] in GENERA for name in known.names)
    crowns = list(GROUPS).index("crown colour")
    found = [k for k, name in enumerate(known.names) if "-crowned" in name]
    assert found
    for k in found:
        assert known.names[k].startswith(GROUPS["crown colour"][known.usual[k, crowns]])


def test_species_are_the_same_everywhere() -> None:
    """A change here is a change of the data: raise EDITION."""
    known = species()
    assert known.names[:3] == ("black-backed finch", "blue-winged finch", "green-winged finch")
    digest = hashlib.sha256(known.attributes.tobytes() + "".join(known.names).encode())
    assert digest.hexdigest()[:16] == "9a681382445fe76c"


def test_captions_say_what_the_bird_shows() -> None:
    name, text = captions(
        "olive-backed tody", [2, 1, 1, 2, 1, 0, 1, 3, 2, 4, 1, 3, 3, 4, 2, 0, 1, 2]
    )
    assert name.text == "an olive-backed tody"
    assert text.text == (
        "a large masked crested bird with a long black hooked beak, red eyes, a yellow crown, a red "
        "throat, a spotted red breast, a buff belly, an olive back, barred blue wings, a forked brown "
        "tail and pink legs"
    )
    plain = captions("tit", [0] * 18)[1].text
    assert plain.startswith("a small bird with a short black cone beak") and "solid" not in plain


@pytest.mark.parametrize("group", [group for group in GROUPS if group.endswith("colour")])
def test_every_colour_has_a_paint(group: str) -> None:
    paints = [RGB[word] for word in GROUPS[group]]
    assert len(set(paints)) == len(paints)
