"""Whole diagnoses: all that data allow, why the rest is left out, and several beside each other."""

import json
from dataclasses import replace

import pytest

import polymodal
from marks import SPLITS, TRAIN, Bare, Blind, Knowing, Marks
from polymodal.base.errors import PolymodalError
from polymodal.diagnosis.comparison import Comparison
from polymodal.diagnosis.compositionality import Fit
from polymodal.diagnosis.diagnosing import Diagnosis
from polymodal.diagnosis.encoders import of_module
from polymodal.diagnosis.examination import Settings
from polymodal.diagnosis.locality import Probing
from polymodal.diagnosis.parts_ratio import Relating
from polymodal.diagnosis.pointwise import Mining
from polymodal.nn.scratch import Window
from polymodal.views.diagnosis_report import write_compared

QUICK = Settings(
    tre=Fit(restarts=1, most=50),
    parts=Probing(steps=20, lr=0.1),
    heatmaps=Mining(steps=5, hidden=8),
    ratio=Relating(pairs=100),
)


@pytest.fixture(scope="module")
def found():
    return polymodal.diagnose(Knowing(), SPLITS, how=QUICK)


def test_all_that_data_allow(found):
    assert found.name == "Knowing"
    assert not found.skipped
    assert found.metrics.keys() >= {
        "zsl_top1", "tre_ratio", "parts_f1", "f1_mark_3", "mi_nats", "parts_ratio", "ratio_p_ssim",
    }  # fmt: skip
    assert found.sheet.startswith(b"\x89PNG")
    assert found.trends.keys() == {"attributes", "ssim"}
    assert found.protocol["fitted to"] == {"images": len(TRAIN), "hash": "marks", "classes": 18}
    assert found.protocol["a place sees"] == "6 pixels, 6 apart, from 0"
    assert found.protocol["settings"]["parts"]["steps"] == 20


def test_it_is_written_whole(found, tmp_path):
    found.write(tmp_path / "a")
    kept = json.loads((tmp_path / "a/diagnosis.json").read_text())
    assert kept["metrics"] == {name: pytest.approx(value) for name, value in found.metrics.items()}
    assert kept["versions"]["polymodal"] == polymodal.__version__
    assert (tmp_path / "a/heatmaps.png").read_bytes() == found.sheet
    page = (tmp_path / "a/report.html").read_text()
    assert "What Knowing holds" in page
    assert "Parts F1" in page
    assert page.count("data:image/") == 1


def test_one_dataset_alone_is_halved():
    found = polymodal.diagnose(Knowing(), TRAIN, measures=["tre"], how=QUICK, name="half")
    assert found.name == "half"
    assert found.protocol["fitted to"]["classes"] == found.protocol["measured on"]["classes"] == 9
    assert found.sheet is None


def test_what_data_do_not_tell_is_left_out_and_said():
    bare = {name: Bare(split) for name, split in SPLITS.items()}
    found = polymodal.diagnose(Knowing(), bare, how=QUICK)
    assert found.metrics.keys() == {"mi_nats"}
    assert found.skipped["ratio"] == "the images have no classes with attributes"
    assert found.skipped.keys() == {"zeroshot", "tre", "parts", "ratio"}
    partless = {
        "train": Marks((0, 2, 4), known=False), "test": Marks((1, 3), known=False)
    }  # fmt: skip
    found = polymodal.diagnose(Knowing(), partless, how=QUICK)
    assert found.skipped.keys() == {"parts", "ratio"}


def test_what_is_asked_for_by_name_must_be():
    bare = {name: Bare(split) for name, split in SPLITS.items()}
    with pytest.raises(
        PolymodalError, match=r"cannot be measured so\. tre: the images have no classes"
    ):
        polymodal.diagnose(Knowing(), bare, measures=["tre", "heatmaps"])
    with pytest.raises(PolymodalError, match=r"Unknown measure 'part'\. Did you mean 'parts'"):
        polymodal.diagnose(Knowing(), SPLITS, measures=["part"])


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(PolymodalError, match="is no run: there is no such directory"):
        polymodal.diagnose("runs/nothing", SPLITS)
    neither = r"is neither a run \(no config.yaml\) nor a transformers model \(no config.json\)"
    with pytest.raises(PolymodalError, match=neither):
        polymodal.diagnose(tmp_path, SPLITS)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(PolymodalError, match="No image model could be opened"):
        polymodal.diagnose(tmp_path, SPLITS)
    with pytest.raises(PolymodalError, match="Unknown dataset 'nowhere'"):
        polymodal.diagnose(Knowing(), "nowhere")


def diagnosis(name, **metrics):
    return Diagnosis(name=name, metrics=metrics, skipped={}, protocol={})


def test_fewer_images_than_there_are_is_a_caution(found, tmp_path):
    assert found.cut == ""
    few = replace(QUICK, images=40)
    told = polymodal.diagnose(Knowing(), SPLITS, measures=["tre"], how=few)
    assert told.protocol["fitted to"]["of"] == len(TRAIN) > 40
    cut = f"fitted to 40 of {len(TRAIN)} images"
    assert told.cautions == [f"{cut}; TRE ratios fall with fewer: compare equal counts only"]
    assert told.to_json()["cautions"] == told.cautions
    told.write(tmp_path)
    assert cut in (tmp_path / "report.html").read_text()
    assert polymodal.diagnose(Knowing(), SPLITS, measures=["parts"], how=few).cautions == [cut]


def test_heatmaps_without_information_are_a_caution():
    said = "the heatmaps say nothing: mi_nats is -0.012, not above 0, on images"
    assert diagnosis("a", mi_nats=-0.0123).cautions[0].startswith(said)
    assert len(diagnosis("a", mi_nats=0.0).cautions) == 1
    assert diagnosis("a", mi_nats=0.01).cautions == diagnosis("a").cautions == []


def test_a_caution_names_the_parts_ratio_where_there_is_one():
    (said,) = diagnosis("a", mi_nats=-0.1, parts_ratio=0.5).cautions
    assert said.endswith("; the parts ratio is taken from them")
    (said,) = diagnosis("a", mi_nats=-0.1).cautions
    assert said.endswith("on images that they were not fitted to")


def test_tre_ratios_that_vary_are_a_caution():
    (said,) = diagnosis("a", tre_ratio=0.65, tre_ratio_spread=0.12).cautions
    assert "the TRE ratio says little: it varies by 0.12 from restart to restart" in said
    assert not diagnosis("a", tre_ratio=0.65, tre_ratio_spread=0.01).cautions


def test_heatmaps_of_an_earlier_diagnosis_go(found, tmp_path):
    found.write(tmp_path)
    replace(found, heatmaps=()).write(tmp_path)
    assert not (tmp_path / "heatmaps.png").exists()


def test_a_measure_is_named_in_a_list():
    with pytest.raises(PolymodalError, match=r"measures is a list, such as \['parts'\]"):
        polymodal.diagnose(Knowing(), SPLITS, measures="parts")


def test_several_against_their_accuracy(tmp_path):
    several = Comparison(
        [
            diagnosis("a", zsl_top1=10.0, tre_ratio=0.9, parts_f1=0.1),
            diagnosis("b", zsl_top1=20.0, tre_ratio=0.7),
            diagnosis("c", zsl_top1=30.0, tre_ratio=0.5, parts_f1=0.2),
            diagnosis("d", mi_nats=1.0),
        ]
    )
    assert several.points["parts_f1"] == {"a": (10.0, 0.1), "c": (30.0, 0.2)}
    assert several.correlations.keys() == {"tre_ratio"}  # of two, r would be 1 whatever they are
    assert several.correlations["tre_ratio"] == pytest.approx((-1.0, 0.0), abs=1e-6)
    write_compared(several, tmp_path)
    kept = json.loads((tmp_path / "comparison.json").read_text())
    assert kept["against zsl_top1"]["tre_ratio"]["r"] == pytest.approx(-1)
    assert [one["name"] for one in kept["encoders"]] == ["a", "b", "c", "d"]
    assert "r = -1.00" in (tmp_path / "comparison.html").read_text()


def test_what_never_varies_goes_with_nothing():
    same = [
        diagnosis(name, zsl_top1=accuracy, parts_f1=0.1)
        for name, accuracy in zip("abc", (1.0, 2.0, 3.0), strict=True)
    ]
    assert Comparison(same).correlations == {}


def test_numbers_that_are_none_are_null_in_json():
    assert diagnosis("a", ratio_r_ssim=float("nan")).to_json()["metrics"] == {"ratio_r_ssim": None}


def test_an_encoder_that_is_described(found):
    blind = of_module(Blind(), size=48, window=Window(6, 6))
    told = polymodal.diagnose(blind, SPLITS, measures=["parts"], how=QUICK)
    assert told.protocol["which is known"] == "as given"
    assert told.metrics["parts_f1"] < found.metrics["parts_f1"]
