"""Studies of OC-GAN: the quick path of each, and what its rows share."""

import numpy as np
import pytest
from PIL import Image

from polymodal.studies.reproduction import reproduce
from polymodal.studies.reproduction.options import Options
from polymodal.studies.study import scale_for, study_named


def quick(table: str, folder, *rows: str):
    options = Options(quick=True, seeds=(0,), accelerator="cpu", folder=folder, rows=rows)
    return reproduce(f"ocgan/{table}", options)


@pytest.mark.parametrize("table", ["table1", "scenefid", "ablation"])
def test_rows_share_their_budget_their_layouts_and_their_judges(table):
    for scale in study_named(f"ocgan/{table}").scales.values():
        assert len({row.training for row in scale.rows}) == 1
        assert len({row.references for row in scale.rows}) == 1
        assert len({row.parts for row in scale.rows if row.parts}) == 1
        systems = [row.model for row in scale.rows] + [r.model for r in scale.rows[0].references]
        assert len({(own.fewest, own.most, own.least_area) for own in systems}) == 1


def test_photos_have_rows_of_their_own():
    study = study_named("ocgan/ablation")
    row = scale_for(study, "coco:PATH,size=64").rows[0]
    assert (row.model.fewest, row.model.least_area) == (2, 0.01)
    assert {row.name: row.seeds for row in study.scales["paper"].rows}["no_patch_d"] == 1


@pytest.mark.slow
def test_the_quick_path_of_a_table_and_of_converging_objects(tmp_path):
    found = quick("ablation", tmp_path, "full", "no_sgsm")
    assert [row.name for row in found.rows] == ["full", "no_sgsm"]
    for row in found.rows:
        assert set(study_named("ocgan/ablation").metrics) <= row.metrics.keys()
        assert row.metrics["real_ca"] == found.rows[0].metrics["real_ca"]
    donuts = quick("donuts", tmp_path, "full")
    assert set(study_named("ocgan/donuts").metrics) <= donuts.rows[0].metrics.keys()
    with Image.open(tmp_path / "quick/ocgan/donuts-full-0.png") as image:
        assert np.asarray(image).std() > 10
