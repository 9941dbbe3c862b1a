"""The demo's whole path, much smaller: train, ask, report."""

from dataclasses import replace

import pytest

from polymodal.data.records import Region
from polymodal.studies import demo


@pytest.fixture
def small(monkeypatch):
    """Forty scenes and four steps in place of thousands."""
    options = "objects=1-3,train=40,val=10,test=10"
    monkeypatch.setattr(demo, "DATA", f"scenes,size=32,{options}")
    monkeypatch.setattr(demo, "SHOWN", f"scenes,size=64,{options}")
    monkeypatch.setattr(
        demo, "TRAINING", replace(demo.TRAINING, max_steps=4, batch_size=8, val_every=2)
    )


@pytest.mark.slow
def test_demo_leaves_a_report_with_everything(small, tmp_path, capsys):
    report = demo.demo(tmp_path / "demo")
    page = report.read_text("utf-8")
    for query in demo.QUERIES:
        assert query.text in page
    assert "R@10" in page and "AUROC" in page
    assert "How sure it is" in page and "Least sure" in page
    assert page.count("nats") >= 12
    assert (tmp_path / "demo/index/index.json").exists()
    assert "scenes-0-000007" in page
    assert page.count("<img") >= 3 * 5 + 8
    printed, said = capsys.readouterr()
    assert "rsum: recall at 1, 5 and 10" in said
    assert "What to try next" in printed
    assert "× chance" in printed


def test_a_query_is_right_when_the_truth_has_all_it_asks_for():
    record = demo.look_at("scenes,size=32,objects=1-1,train=1,val=0,test=0")["train"][0]

    def scene(*looks):
        """The record with things of these attributes in place of its own."""
        names = ("size", "colour", "material", "shape")
        known = [dict(zip(names, look.split(), strict=True)) for look in looks]
        regions = tuple(Region(own["shape"], attributes=own) for own in known)
        return replace(record, values={**record.values, "regions": regions})

    large_red, green_sphere, yellow_and_blue = demo.QUERIES
    assert large_red.fits(scene("large red metal cube"))
    assert not large_red.fits(scene("small red metal cube", "large blue metal cube"))
    assert green_sphere.fits(scene("small green metal sphere"))
    assert not green_sphere.fits(scene("small green rubber sphere", "small red metal sphere"))
    assert yellow_and_blue.fits(scene("small blue metal cube", "large yellow rubber sphere"))
    assert not yellow_and_blue.fits(scene("small blue metal cube", "large red rubber sphere"))


def test_no_scene_no_verdict():
    record = demo.look_at("scenes,size=32,train=1,val=0,test=0")["train"][0]
    assert not demo.QUERIES[0].fits(replace(record, values={"image": record.image}))
