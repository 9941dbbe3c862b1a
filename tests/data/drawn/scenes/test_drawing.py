"""Pictures: the same for any number of workers, and metal unlike rubber."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from polymodal.data.drawn import scenes as worlds
from polymodal.data.drawn.scenes import geometry
from polymodal.data.drawn.scenes import scene_drawing as drawing
from polymodal.data.drawn.scenes.attributes import COLOURS, SHAPES


@pytest.fixture(scope="module")
def layouts() -> list[drawing.Layout]:
    world = worlds.named("scenes")
    return [drawing.lay_out(world, item) for item in range(6)]


def test_pixels_do_not_depend_on_workers_or_order(layouts: list[drawing.Layout]) -> None:
    one = drawing.paint(layouts, 48, workers=1)
    many = drawing.paint(layouts, 48, workers=3)
    backwards = drawing.paint(layouts[::-1], 48, workers=2)
    assert np.array_equal(one, many)
    assert np.array_equal(one, backwards[::-1])


def test_pixels_are_the_same_on_every_machine(layouts: list[drawing.Layout]) -> None:
    """A change here is a change of the data: raise EDITION."""
    digest = hashlib.sha256(drawing.paint(layouts, 112).tobytes()).hexdigest()
    assert digest[:16] == "2c01603c1f91328e"


INTERPRETED = """
import hashlib, warnings
warnings.simplefilter("ignore")
from polymodal.data.drawn import scenes as worlds
from polymodal.data.drawn.scenes import scene_drawing as drawing
digest = hashlib.sha256()
for name in worlds.WORLDS:
    for item in (0, 1):
        one = drawing.lay_out(worlds.named(name), item)
        digest.update(one.stage.tobytes() + one.bodies.tobytes())
        digest.update(drawing.scene(one, 32).mask.tobytes())
        digest.update(drawing.paint([one], 16).tobytes())
print(digest.hexdigest())
"""


def test_compiled_and_interpreted_agree_to_the_bit() -> None:
    """Plain Python floats are IEEE doubles: what they give, every machine can give."""
    found = [
        subprocess.run(
            [sys.executable, "-c", INTERPRETED],
            env=os.environ | {"NUMBA_DISABLE_JIT": choice},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for choice in "01"
    ]
    assert found[0] == found[1] != ""


@pytest.mark.parametrize("size", [16, 33, 160])
def test_any_size_can_be_drawn(layouts: list[drawing.Layout], size: int) -> None:
    images = drawing.paint(layouts[:1], size)
    assert images.shape == (1, size, size, 3) and images.dtype == np.uint8
    assert 90 < images.mean() < 200


def test_masked_pixels_have_the_colour_of_their_thing(layouts: list[drawing.Layout]) -> None:
    """Red things are redder than the ground, blue ones bluer."""
    channel = {"red": 0, "green": 1, "blue": 2}
    for one in layouts:
        image, scene = drawing.paint([one], 112)[0].astype(float), drawing.scene(one, 112)
        for k, thing in enumerate(scene.regions):
            if thing.attributes["colour"] in channel:
                pixels = image[scene.mask == k + 1].mean(0)
                c = channel[thing.attributes["colour"]]
                assert pixels[c] > max(np.delete(pixels, c)) + 10


def roughness(image: np.ndarray, mask: np.ndarray) -> float:
    """The mean step of brightness between neighbours that both lie inside a thing."""
    bright = image.astype(float).mean(-1)
    down = np.abs(np.diff(bright, axis=0))[mask[1:] & mask[:-1]]
    across = np.abs(np.diff(bright, axis=1))[mask[:, 1:] & mask[:, :-1]]
    return float(np.concatenate([down, across]).mean())


@pytest.mark.parametrize("shape", range(3), ids=SHAPES)
@pytest.mark.parametrize("size", [0, 1], ids=["small", "large"])
def test_metal_is_told_from_rubber(shape: int, size: int) -> None:
    world = worlds.named("one-object")
    differences, ratios = [], []
    for item, colour in enumerate(range(len(COLOURS))):
        one = drawing.lay_out(world, item)
        extent = (0.35, 0.7)[size] * (0.78 if shape == 2 else 1)
        one.bodies[0, :4] = size, colour, 0, shape
        one.bodies[0, [geometry.Z, geometry.EXTENT]] = extent
        one.bodies[0, geometry.BOUND] = extent * (1, 2**0.5, 3**0.5)[shape]
        shiny = drawing.Layout(one.stage, one.bodies.copy())
        shiny.bodies[0, geometry.MATERIAL] = 1
        rubber, metal = drawing.paint([one, shiny], 112)
        mask = drawing.scene(one, 112).mask == 1
        differences.append(np.abs(rubber.astype(float) - metal)[mask].mean())
        ratios.append(roughness(metal, mask) / roughness(rubber, mask))
    assert min(differences) > 10
    assert np.mean(ratios) > 1.3
