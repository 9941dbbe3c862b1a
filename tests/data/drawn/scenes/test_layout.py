"""The truth of scenes against computations of its own."""

import hashlib
import itertools
import json

import numpy as np
import pytest

from polymodal.base.errors import PolymodalError
from polymodal.data.drawn import scenes as worlds
from polymodal.data.drawn.scenes import geometry, stage, tracer
from polymodal.data.drawn.scenes import scene_drawing as drawing
from polymodal.data.drawn.scenes import scene_layout as layout
from polymodal.data.drawn.scenes.attributes import CUBE, KINDS, RADII, RELATIONS
from polymodal.data.drawn.scenes.scene_captions import captions

WORLD = worlds.named("scenes", seed=3)
LAYOUTS = 40


@pytest.fixture(scope="module")
def layouts() -> list[drawing.Layout]:
    return [drawing.lay_out(WORLD, item) for item in range(LAYOUTS)]


def project(row: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Pixels in [0, 1] of some points, by a matrix and a division."""
    axes = np.stack([row[i : i + 3] for i in (stage.RIGHT, stage.UP, stage.FORWARD)])
    x, y, z = axes @ (points - row[stage.EYE : stage.EYE + 3]).T
    return np.stack([x / z / stage.LENS + 1, 1 - y / z / stage.LENS], -1) / 2


def test_the_camera_is_square(layouts: list[drawing.Layout]) -> None:
    for one in layouts:
        axes = np.stack([one.stage[i : i + 3] for i in (stage.RIGHT, stage.UP, stage.FORWARD)])
        assert np.allclose(axes @ axes.T, np.eye(3))
        assert axes[0, 2] == 0 and axes[1, 2] > 0


def test_centres_lie_in_boxes_and_boxes_in_the_frame(layouts: list[drawing.Layout]) -> None:
    for one in layouts:
        scene = drawing.scene(one, 224)
        centres = (
            project(one.stage, np.array([thing.attributes["position"] for thing in scene.regions]))
            * 224
        )
        for thing, (x, y) in zip(scene.regions, centres, strict=True):
            x0, y0, x1, y1 = thing.box
            assert 0 < x0 < x1 < 224 and 0 < y0 < y1 < 224
            if thing.attributes["visible"] > 0.95:
                assert x0 < x < x1 and y0 < y < y1


def test_boxes_bound_masks(layouts: list[drawing.Layout]) -> None:
    for one in layouts[:10]:
        scene = drawing.scene(one, 112)
        for k, thing in enumerate(scene.regions):
            rows, columns = np.nonzero(scene.mask == k + 1)
            bounds = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
            assert thing.box == bounds
        assert set(np.unique(scene.mask)) <= set(range(len(scene.regions) + 1))


def test_visible_fraction_is_what_masks_say(layouts: list[drawing.Layout]) -> None:
    for one in layouts[:12]:
        mask = drawing.scene(one, 256).mask
        for k, body in enumerate(one.bodies):
            alone = drawing.scene(drawing.Layout(one.stage, one.bodies[k : k + 1].copy()), 256)
            share = (mask == k + 1).sum() / (alone.mask == 1).sum()
            assert abs(share - body[geometry.VISIBLE]) < 0.06


def test_all_are_visible_apart_and_beyond_doubt(layouts: list[drawing.Layout]) -> None:
    for one in layouts:
        assert np.all(one.bodies[:, geometry.VISIBLE] >= 0.55)
        for a, b in itertools.combinations(one.bodies, 2):
            apart = np.hypot(a[geometry.X] - b[geometry.X], a[geometry.Y] - b[geometry.Y])
            widths = [
                RADII[int(k[geometry.SIZE])] * (CUBE * 2**0.5 if k[geometry.SHAPE] == 2 else 1)
                for k in (a, b)
            ]
            assert apart > sum(widths) + 0.1
            assert abs(a[geometry.ASIDE] - b[geometry.ASIDE]) >= 0.3
            assert abs(a[geometry.AHEAD] - b[geometry.AHEAD]) >= 0.3


def test_relations_are_those_of_the_ground_and_antisymmetric(
    layouts: list[drawing.Layout],
) -> None:
    for one in layouts:
        found = one.relations()
        right = one.stage[stage.RIGHT : stage.RIGHT + 2]
        forward = one.stage[stage.FORWARD : stage.FORWARD + 2]
        place = one.bodies[:, [geometry.X, geometry.Y]]
        pairs = list(itertools.permutations(range(len(place)), 2))
        for a, b in pairs:
            gap = place[a] - place[b]
            assert ((a, b) in found["right"]) == (gap @ right > 0)
            assert ((a, b) in found["behind"]) == (gap @ forward > 0)
        for word, other in (("left", "right"), ("front", "behind")):
            assert {(b, a) for a, b in found[word]} == set(found[other])
            assert len(found[word]) + len(found[other]) == len(pairs)
        assert tuple(found) == RELATIONS


def test_depth_is_the_distance_from_the_eye(layouts: list[drawing.Layout]) -> None:
    one = layouts[0]
    for thing in drawing.scene(one, 64).regions:
        eye = one.stage[stage.EYE : stage.EYE + 3]
        known = thing.attributes
        assert known["depth"] == pytest.approx(np.linalg.norm(np.array(known["position"]) - eye))


def test_layout_does_not_depend_on_the_image_size() -> None:
    small = drawing.lay_out(worlds.named("scenes", size=16), 5)
    large = drawing.lay_out(worlds.named("scenes", size=448), 5)
    assert np.array_equal(small.bodies, large.bodies)
    assert np.array_equal(small.stage, large.stage)


def test_every_thing_has_a_box_even_in_tiny_images(layouts: list[drawing.Layout]) -> None:
    for one in layouts:
        for thing in drawing.scene(one, 16).regions:
            x0, y0, x1, y1 = thing.box
            assert 0 <= x0 < x1 <= 16 and 0 <= y0 < y1 <= 16


def chi_square(counts: np.ndarray) -> float:
    expected = counts.sum() / counts.size
    return float(((counts - expected) ** 2 / expected).sum())


def test_attributes_are_even_and_untouched_by_rejection() -> None:
    items = np.arange(4000)
    codes, counts = drawing.attributes(WORLD, items)
    there = np.arange(codes.shape[1]) < counts[:, None]
    limits = {2: 10.8, 3: 13.8, 6: 20.5, 8: 24.3}  # one in a thousand
    assert chi_square(np.bincount(counts - 3, minlength=6)) < limits[6]
    for column, known in enumerate(KINDS.values()):
        drawn = np.bincount(codes[there][:, column], minlength=len(known))
        assert chi_square(drawn) < limits[len(known)]
    for item in range(20):
        placed = drawing.lay_out(WORLD, item).bodies
        assert np.array_equal(placed[:, :4], codes[item, : counts[item]])


def test_eight_large_objects_always_find_room() -> None:
    choices = WORLD.choices()
    choices[0, :2] = 1, 1
    for shape in range(3):
        choices[3, :2] = 1, shape
        for item in range(60):
            row, bodies = np.zeros(stage.COLUMNS), np.zeros((8, geometry.COLUMNS))
            found = tracer.lay_out(1, item, 8, choices, layout.VISIBLE, row, bodies)
            assert found == 8


def test_no_room_is_said_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracer, "lay_out", lambda *_: -8)
    with pytest.raises(PolymodalError, match=r"No room .* 8 objects of scenes-3-000007"):
        drawing.lay_out(WORLD, 7)


def test_overlap_lets_objects_hide_each_other() -> None:
    world = worlds.named("scenes", objects=(8, 8), overlap=True)
    seen = np.concatenate(
        [drawing.lay_out(world, i).bodies[:, geometry.VISIBLE] for i in range(60)]
    )
    assert 0.1 <= seen.min() < 0.5


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("scenes", "6a242e60ea5cf932"),
        ("two-objects", "d8b564bd6410a32d"),
        ("one-object", "0a1b55bc7c608ed1"),
    ],
)
def test_truth_is_the_same_on_every_machine(name: str, expected: str) -> None:
    """A change here is a change of the data: raise EDITION."""
    world = worlds.named(name)
    digest = hashlib.sha256()
    for item in (0, 1, 2, 999, 123_456):
        one = drawing.lay_out(world, item)
        digest.update(one.stage.astype("<f8").tobytes() + one.bodies.astype("<f8").tobytes())
        scene = drawing.scene(one, 112)
        digest.update(scene.mask.tobytes())
        said = [
            [c.text, c.extent, [[p.start, p.end, p.regions] for p in c.phrases]]
            for c in captions(world, item, one)
        ]
        digest.update(json.dumps([thing.box for thing in scene.regions] + said).encode())
    assert digest.hexdigest()[:16] == expected
