"""Part maps against pixels drawn and looked at one by one; probes on features of known make."""

import pytest
import torch
from sklearn.metrics import f1_score

from polymodal.base.errors import PolymodalError
from polymodal.diagnosis.locality import (
    CUTS,
    LOWEST,
    SQUARE,
    Located,
    Probing,
    fit_probes,
    part_maps,
    parts_f1,
)
from polymodal.nn.scratch import Window, alex, basic

SIZE = 64


def slowly(parts, window, grid, size):
    """Draw each part's square on a fine raster, and look through each window for a pixel of it."""
    fine = 4
    found = torch.zeros(*parts.shape[:2], grid, grid, dtype=torch.bool)
    for n, image in enumerate(parts):
        for p, (x, y, seen) in enumerate(image.tolist()):
            mask = torch.zeros(size * fine, size * fine, dtype=torch.bool)
            x0, x1, y0, y1 = (
                round((value * size + sign * SQUARE / 2) * fine)
                for value in (x, y)
                for sign in (-1, 1)
            )
            if seen:
                mask[max(y0, 0) : max(y1, 0), max(x0, 0) : max(x1, 0)] = True
            for row in range(grid):
                for column in range(grid):
                    top, left = (window.start + window.step * k for k in (row, column))
                    rows = slice(max(top, 0) * fine, max(top + window.size, 0) * fine)
                    columns = slice(max(left, 0) * fine, max(left + window.size, 0) * fine)
                    found[n, p, row, column] = mask[rows, columns].any()
    return found


@pytest.mark.parametrize("make", [basic, lambda size: alex(size, hidden=16)])
def test_maps_are_what_windows_see(make):
    encoder = make(SIZE)
    grid, window = encoder.side(SIZE, 3), encoder.window(3)
    # on a fine raster, so that no square touches a window's edge without overlapping it
    places = torch.randint(1, 8 * SIZE, (3, 4, 2), generator=torch.manual_seed(0)) / (8 * SIZE)
    seen = torch.tensor([1.0, 1.0, 1.0, 0.0]).expand(3, 4)[..., None]
    parts = (torch.cat([(places * SIZE * 4).floor() / (SIZE * 4), seen], -1)).double()
    found = part_maps(parts, window, grid, SIZE)
    assert torch.equal(found, slowly(parts, window, grid, SIZE))
    assert found[:, :3].any()
    assert not found[:, 3].any()


def test_a_crop_moves_parts_towards_its_rim():
    window = Window(size=1, step=1, start=0)
    parts = torch.tensor([[[0.5, 0.5, 1.0], [0.75, 0.25, 1.0], [0.01, 0.5, 1.0]]])
    found = part_maps(parts, window, 64, 64, crop=0.5)[0]
    middle, aside, lost = (torch.nonzero(part).double().mean(0) + 0.5 for part in found)
    assert middle.tolist() == [32, 32]
    assert not found[2].any()
    assert lost.isnan().all()
    assert aside[0] < 4  # at the upper right corner, half of the square cut off
    assert aside[1] > 60


def located(signal, seed=0):
    """Features of which two channels are the maps of two parts, with noise, the other two noise alone."""
    generator = torch.Generator().manual_seed(seed)
    maps = torch.rand(40, 2, 6, 6, generator=generator) < 0.2
    noise = torch.randn(40, 4, 6, 6, generator=generator)
    local = 5 + 3 * noise
    local[:, :2] += signal * maps
    return Located(local, maps)


def test_features_that_hold_parts_are_read():
    how = Probing(steps=300, lr=0.05)
    found = parts_f1(located(100.0), located(100.0, seed=1), how)
    assert found["parts_f1"] > 0.95
    assert found["f1_0"] > 0.9
    assert found["parts_unseen"] == 0
    assert parts_f1(located(0.0), located(0.0, seed=1), how)["parts_f1"] < 0.1


def test_f1_is_two_hits_over_all_named_and_there():
    train, test = located(4.0), located(4.0, seed=1)
    how = Probing(steps=50, lr=0.05)
    told = fit_probes(train, how)(test.local) > 0
    expected = []
    for part in range(2):
        hits = (told[:, part] & test.maps[:, part]).sum()
        precision, recall = hits / told[:, part].sum(), hits / test.maps[:, part].sum()
        expected.append((2 * precision * recall / (precision + recall)).item())
    found = parts_f1(train, test, how)
    assert [found["f1_0"], found["f1_1"]] == pytest.approx(expected, rel=1e-5)
    assert found["parts_f1"] == pytest.approx(sum(expected) / 2, rel=1e-5)


def test_the_tuned_threshold_is_the_best_of_the_images_fitted_to():
    train, test = located(4.0), located(4.0, seed=1)
    how = Probing(steps=50, lr=0.05)
    probe = fit_probes(train, how)
    expected = []
    for part in range(2):
        logits, there = probe(train.local)[:, part].flatten(), train.maps[:, part].flatten()
        cuts = torch.linspace(LOWEST, 0, CUTS).tolist()
        best = max(cuts, key=lambda cut: f1_score(there, logits > cut))
        assert best < 0
        asked = probe(test.local)[:, part].flatten() > best
        expected.append(f1_score(test.maps[:, part].flatten(), asked))
    found = parts_f1(train, test, how)
    assert found["parts_f1_tuned"] == pytest.approx(sum(expected) / 2, rel=1e-6)
    assert found["parts_f1_tuned"] > found["parts_f1"]


def test_a_part_that_is_nowhere_is_left_out():
    train, test = located(100.0), located(100.0, seed=1)
    test.maps[:, 1] = False
    found = parts_f1(train, test, Probing(steps=100, lr=0.05))
    assert found["parts_unseen"] == 1
    assert found["parts_f1"] == found["f1_0"]
    test.maps[:] = False
    with pytest.raises(PolymodalError, match="No part is seen"):
        parts_f1(train, test, Probing(steps=1))


def test_what_cannot_be_measured():
    data = located(1.0)
    with pytest.raises(PolymodalError, match="found 40 of features and 3 of parts"):
        Located(data.local, data.maps[:3])
