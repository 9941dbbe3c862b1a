"""Every measure of encoders whose answer is known: one that knows the marks, one that knows nothing."""

from dataclasses import replace
from functools import cache

import pytest
import torch
from PIL import Image

from marks import SETS, SIZE, SPLITS, TEST, TRAIN, Bare, Blind, Knowing, Marks
from polymodal.base.errors import PolymodalError
from polymodal.diagnosis import encoder_measures
from polymodal.diagnosis.compositionality import Fit
from polymodal.diagnosis.encoders import as_encoder, of_module
from polymodal.diagnosis.examination import Examination, Settings
from polymodal.diagnosis.locality import Probing
from polymodal.diagnosis.overlays import shown_pairs, spread
from polymodal.diagnosis.parts_ratio import Relating
from polymodal.diagnosis.pointwise import Mining, score_maps
from polymodal.nn.scratch import Window
from polymodal.studies.figures.heatmaps import heatmaps

QUICK = Settings(
    tre=Fit(restarts=2),
    parts=Probing(steps=150, lr=0.1),
    heatmaps=Mining(steps=200, lr=3e-3, hidden=32),
    ratio=Relating(pairs=1000),
)


@cache
def examined(kind):
    """An encoder before the marks."""
    if kind == "knowing":
        return Examination(as_encoder(Knowing(), SIZE), SPLITS, QUICK)
    blind = of_module(Blind(), size=SIZE, window=Window(6, 6))
    return Examination(blind, SPLITS, QUICK)


def test_features_that_are_sums_of_attributes():
    found = encoder_measures.tre(examined("knowing"))
    assert found["tre"] < 0.01
    assert found["tre_ratio"] < 0.05
    assert encoder_measures.tre(examined("blind"))["tre_ratio"] == pytest.approx(1, abs=0.15)


def test_features_that_are_maps_of_parts():
    found = encoder_measures.parts(examined("knowing"))
    assert found["parts_f1"] > 0.99
    assert found["f1_mark_0"] > 0.99
    assert encoder_measures.parts(examined("blind"))["parts_f1"] < 0.3


def test_all_is_fitted_to_one_split_and_measured_on_the_other(monkeypatch):
    given = {}
    for name in ("tre_ratio", "parts_f1"):
        monkeypatch.setattr(
            encoder_measures,
            name,
            lambda *data, name=name: given.update({name: data}) or {name: 1.0},
        )
    found = examined("knowing")
    encoder_measures.tre(found)
    encoder_measures.parts(found)
    known, asked, _ = given["tre_ratio"]
    assert torch.equal(known.features, found.seen.whole)
    assert torch.equal(asked.features, found.asked.whole)
    assert known.attributes.sum() == sum(len(SETS[label]) for label in TRAIN.labels)
    assert asked.attributes.sum() == sum(len(SETS[label]) for label in TEST.labels)
    for data, looked in zip(given["parts_f1"], (found.seen, found.asked), strict=False):
        assert torch.equal(data.local, looked.local)
        assert torch.equal(data.maps, looked.local > 0)


def test_classes_never_seen_are_recognised_by_what_they_are_made_of():
    found = encoder_measures.zeroshot(examined("knowing"))
    assert found["chance"] == pytest.approx(100 / len(TEST.chosen))
    assert found["zsl_top1_ridge"] > 90
    assert found["zsl_top1"] > 1.5 * found["chance"]  # few steps, and few numbers to move
    assert encoder_measures.zeroshot(examined("blind"))["zsl_top1_ridge"] < 30


def test_global_and_local_features_share_what_both_know():
    assert encoder_measures.mined(examined("knowing"))["mi_nats"] > 0.05
    assert encoder_measures.mined(examined("blind"))["mi_nats"] < 0.05


def test_heat_is_on_the_marks_that_both_images_have():
    found = examined("knowing")
    pairs = torch.tensor([(a, b) for a in range(0, 90, 7) for b in range(0, 90, 5) if a != b])
    heat = score_maps(found.statistics, found.asked, pairs).flatten(1)
    colours = [set(SETS[label]) for label in found.test.labels.tolist()]
    hits = shared = 0
    for (first, second), scores in zip(pairs.tolist(), heat, strict=True):
        both = sorted(colours[first] & colours[second])
        if both and colours[second] - colours[first]:
            shared += 1
            place = int(scores.argmax())
            hits += bool(found.asked.local[second, both].flatten(1)[:, place].any())
    assert shared > 50
    assert hits / shared > 0.9


def test_the_parts_ratio_rises_with_shared_attributes():
    scores = encoder_measures.ratio(examined("knowing"))
    trends = examined("knowing").relation.trends()
    assert scores["ratio_r_attributes"] > 0.5
    assert scores["ratio_p_attributes"] < 1e-6
    assert 0.1 < scores["parts_area"] < 0.5
    rising = [y for _, y in trends["attributes"]]
    assert rising[-1] > rising[0] + 0.1
    nothing = encoder_measures.ratio(examined("blind"))
    assert abs(nothing["ratio_r_attributes"]) < 0.25
    assert nothing["parts_ratio"] == pytest.approx(nothing["parts_area"], abs=0.1)


def test_the_area_is_the_share_of_places_with_a_part():
    found = examined("knowing")
    scores = encoder_measures.ratio(found)
    shares = (found.asked.local > 0).any(1).float().mean((1, 2))
    seconds = torch.arange(1000) % len(TEST)
    assert scores["parts_area"] == pytest.approx(shares[seconds].mean().item(), abs=1e-5)


def test_for_studies(tmp_path):
    quick = replace(QUICK, heatmaps=Mining(steps=5, hidden=8), ratio=Relating(pairs=100))
    tre = encoder_measures.tre(encoder_measures.examine(Knowing(), SPLITS, "tre", quick))
    expected = {"tre", "tre_random", "tre_ratio", "tre_ratio_spread", "tre_ratio_stopped"}
    assert tre.keys() == expected
    assert "parts_f1" in encoder_measures.parts_scores(Knowing(), SPLITS, quick)
    out = tmp_path / "figures" / "heat.png"
    found = heatmaps(Knowing(), SPLITS, out, quick)
    assert found.keys() >= {"mi_nats", "parts_ratio", "ratio_r_ssim", "ratio_p_ssim"}
    with Image.open(out) as image:
        assert image.width > 1000
    bare = {name: Bare(split) for name, split in SPLITS.items()}
    assert heatmaps(Knowing(), bare, out, quick).keys() == {"mi_nats"}


def test_what_data_cannot_tell():
    bare = {name: Bare(split) for name, split in SPLITS.items()}
    with pytest.raises(PolymodalError, match="tre cannot be measured: the images have no classes"):
        encoder_measures.examine(Knowing(), bare, "tre", None)
    partless = {name: Marks((0, 1), known=False) for name in SPLITS}
    with pytest.raises(PolymodalError, match="parts cannot be measured: it is not known where"):
        encoder_measures.parts_scores(Knowing(), partless)


def test_pairs_that_are_shown():
    labels = torch.tensor([5, 5, 7, 7, 8, 9, 9, 9, 11, 12])
    pairs = shown_pairs(labels).tolist()
    assert pairs[:3] == [[0, 1], [0, 2], [0, 5]]  # its class, the next, and one farther
    assert len({first for first, _ in pairs}) == 4
    assert all(first != second for first, second in pairs)
    assert shown_pairs(torch.tensor([3, 3])).tolist() == [[0, 1]]


def test_a_map_is_spread_over_what_its_places_see():
    encoder = as_encoder(Knowing(), SIZE)
    heat = torch.zeros(8, 8)
    heat[2, 5] = 1.0
    found = spread(heat.numpy(), encoder, SIZE)
    assert found.shape == (SIZE, SIZE)
    rows, columns = (found == found.max()).nonzero()
    assert set(rows) <= {14, 15}  # the middle of pixels 12 to 17
    assert set(columns) <= {32, 33}
    assert spread(torch.ones(8, 8).numpy(), encoder, SIZE) == pytest.approx(1)


def test_heat_lies_on_the_picture_whatever_size_is_encoded(tmp_path):
    """As a vision transformer's is: what it sees is twice as large as the picture."""

    class Doubled(Knowing):
        def forward(self, x):
            return super().forward(x[:, :, ::2, ::2])

    encoder = of_module(Doubled(), size=2 * SIZE, window=Window(12, 12))
    heat = torch.rand(8, 8, generator=torch.Generator().manual_seed(0)).numpy()
    fine = spread(heat, encoder, 2 * SIZE)
    halved = fine.reshape(SIZE, 2, SIZE, 2).mean((1, 3))
    assert spread(heat, encoder, SIZE) == pytest.approx(halved, abs=0.05)
    out = tmp_path / "heat.png"
    heatmaps(encoder, SPLITS, out, replace(QUICK, heatmaps=Mining(steps=3, hidden=8)))
    assert out.stat().st_size > 1000
