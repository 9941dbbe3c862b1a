"""Parts: where they are said to be, they are seen; where they are not, they are hidden."""

import numpy as np
import pytest

from polymodal.data.drawn import birds
from polymodal.data.drawn.birds import painting
from polymodal.data.drawn.birds.bird_split import Split
from polymodal.data.drawn.birds.plumage import GROUPS, PARTS, RGB

SIZE, COUNT = 128, 240


@pytest.fixture(scope="module")
def split() -> Split:
    return birds.named(size=SIZE, train=COUNT).splits()["train"]


@pytest.fixture(scope="module")
def images(split: Split) -> np.ndarray:
    return split.images(range(COUNT))


@pytest.fixture(scope="module")
def masks(split: Split) -> np.ndarray:
    return split.masks(range(COUNT))


def pixels(split: Split, part: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The images in which a part is seen, and the row and column of its place in them."""
    found = split.parts[:, PARTS.index(part)]
    which = np.flatnonzero(found[:, 2])
    places = (found[which, :2] * SIZE).astype(int)
    return which, places[:, 1], places[:, 0]


def test_hidden_parts_are_zeros_and_others_lie_in_the_picture(split: Split) -> None:
    seen = split.parts[..., 2]
    assert set(np.unique(seen)) == {0, 1}
    assert not split.parts[seen == 0].any()
    assert (split.parts[seen == 1] > 0).all() and (split.parts < 1.0001).all()
    share = seen.mean(0)
    assert (share > 0.35).all() and (share < 1).all()


@pytest.mark.parametrize("part", PARTS)
def test_a_seen_part_lies_in_its_own_mask(split: Split, masks: np.ndarray, part: str) -> None:
    which, row, column = pixels(split, part)
    own = masks[which, row, column] == PARTS.index(part) + 1
    assert own.mean() > 0.93
    for k in np.flatnonzero(~own):  # on a border: the part is next to it
        i, r, c = which[k], row[k], column[k]
        around = masks[i, max(r - 2, 0) : r + 3, max(c - 2, 0) : c + 3]
        assert (around == PARTS.index(part) + 1).any()


COLOURED = {
    "back": "back colour",
    "nape": "back colour",
    "beak": "beak colour",
    "belly": "belly colour",
    "breast": "breast colour",
    "crown": "crown colour",
    "forehead": "crown colour",
    "left leg": "leg colour",
    "right leg": "leg colour",
    "left wing": "wing colour",
    "right wing": "wing colour",
    "tail": "tail colour",
    "throat": "throat colour",
}


def plain(split: Split, group: str) -> np.ndarray:
    """Whether nothing is drawn over a bird's colour of a group."""
    over = {
        "breast colour": "breast pattern",
        "wing colour": "wing pattern",
        "crown colour": "face",
    }
    if group not in over:
        return np.ones(len(split), bool)
    codes: np.ndarray = split.codes[:, list(GROUPS).index(over[group])]
    return codes == 0


@pytest.mark.parametrize("part", COLOURED)
def test_the_pixel_of_a_part_has_its_colour(split: Split, images: np.ndarray, part: str) -> None:
    """Of the colours that it may have, in light or in shade, its own is the nearest."""
    group = COLOURED[part]
    paints = np.array([RGB[word] for word in GROUPS[group]], float)
    which, row, column = pixels(split, part)
    seen = images[which, row, column].astype(float)[:, None]
    shade = ((seen * paints).sum(-1) / (paints * paints).sum(-1)).clip(0.6, 1.1)
    nearest = np.square(seen - shade[..., None] * paints).sum(-1).argmin(1)
    right = nearest == split.codes[which, list(GROUPS).index(group)]
    right = right[plain(split, group)[which]]
    assert len(right) > 20 and right.mean() > (0.75 if part == "belly" else 0.9)


def painted(split: Split, codes: np.ndarray) -> np.ndarray:
    images = np.empty((COUNT, SIZE, SIZE, 3), np.uint8)
    painting.paint(split.seeds, split.items, codes, images, np.empty(images.shape[:3], np.uint8))
    return images


@pytest.mark.parametrize("group", dict.fromkeys(COLOURED.values()))
def test_another_colour_changes_its_parts_alone(
    split: Split, images: np.ndarray, masks: np.ndarray, group: str
) -> None:
    codes, column = split.codes.copy(), list(GROUPS).index(group)
    codes[:, column] = (codes[:, column] + 1) % len(GROUPS[group])
    changed = (painted(split, codes) != images).any(-1)
    parts = [part for part, its in COLOURED.items() if its == group]
    own = np.isin(masks, [PARTS.index(part) + 1 for part in parts])
    near = own.copy()  # colours of a body go over into each other
    for axis in (1, 2):
        near |= np.any([np.roll(own, step, axis) for step in range(-5, 6)], axis=0)
    assert changed[own].mean() > (0.8 if plain(split, group).all() else 0.4)
    assert (changed & ~near).sum() < 0.05 * changed.sum()
    for part in parts:
        which, row, place = pixels(split, part)
        clear = plain(split, group)[which]
        assert changed[which, row, place][clear].mean() > 0.97


def test_a_bird_shows_the_side_that_it_turns_to_the_viewer(split: Split) -> None:
    """One that looks to the left shows its left wing and left eye."""
    place = {part: split.parts[:, k] for k, part in enumerate(PARTS)}
    whole = (place["beak"][:, 2] > 0) & (place["tail"][:, 2] > 0)
    leftward = place["beak"][:, 0] < place["tail"][:, 0]
    for thing in ("wing", "eye"):
        left, right = place[f"left {thing}"][:, 2], place[f"right {thing}"][:, 2]
        one = whole & (left != right)
        assert one.sum() > COUNT / 3
        assert ((left > 0) == leftward)[one].mean() > 0.9


def test_what_is_before_a_bird_hides_its_parts(split: Split, masks: np.ndarray) -> None:
    """A part of which no pixel is seen is not said to be seen."""
    for k in range(len(PARTS)):
        unseen = ~(masks == k + 1).any((1, 2))
        assert not split.parts[unseen, k].any()
    assert (masks > 0).any((1, 2)).all()
