"""The world of X-rays: the same everywhere, findings that show, reports that speak of them."""

import hashlib
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.cli import main
from polymodal.data.drawn import xrays
from polymodal.data.drawn.kernel.randomness import uniforms
from polymodal.data.drawn.xrays import chest
from polymodal.data.drawn.xrays.films import expose
from polymodal.data.drawn.xrays.findings import CHEST, FINDING, NAMES, SEVERITY
from polymodal.data.drawn.xrays.report_sentences import ABSENT, SEEN, SUMMARY
from polymodal.data.sources import open_splits

SMALL: dict[str, Any] = {"size": 32, "train": 12, "val": 3, "test": 3}
MANY: dict[str, Any] = {"size": 16, "train": 1500, "val": 0, "test": 0}


def pattern(wording: str) -> str:
    """A wording of the lists, whatever its side and degree."""
    return re.sub(r"\\\{\w+\\\}", r"\\w+", re.escape(wording))


def test_films_have_text_findings_and_a_patient() -> None:
    split = xrays.named(**SMALL).splits()["train"]
    record = split[1]
    assert record.image.shape == (32, 32, 3) and record.image.dtype == np.uint8
    assert (record.image[..., 0] == record.image[..., 2]).all()
    assert split.columns["targets"].classes == NAMES and len(NAMES) == 14
    assert record["targets"].shape == (14,) and record["targets"].dtype == np.float32
    assert record["group"] == "train-00001" and record.id == "xrays-0-train-00001"
    assert len(record["text"]) > 20


def test_a_film_is_the_same_whatever_is_drawn_with_it_and_on_every_machine() -> None:
    split = xrays.named(**SMALL).splits()["train"]
    more = xrays.named(**SMALL | {"train": 50, "val": 0}).splits()["train"]
    assert np.array_equal(split.images([7, 2]), more.images([2, 7])[::-1])
    assert split[7]["text"] == more[7]["text"]
    again = pickle.loads(pickle.dumps(split))
    assert np.array_equal(again.images([7]), split.images([7]))
    told = split.images([0, 5, 11]).tobytes() + split[5]["text"].encode()
    assert hashlib.sha256(told).hexdigest()[:16] == "027a42f3e952e7ba"


def test_no_patient_is_in_two_splits_and_seeds_have_others() -> None:
    splits = xrays.named(**SMALL).splits()
    groups = [set(split.columns["group"]) for split in splits.values()]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 18
    firsts = [split.images([0]).tobytes() for split in splits.values()]
    firsts.append(xrays.named(seed=1, **SMALL).splits()["train"].images([0]).tobytes())
    assert len(set(firsts)) == 4
    same = xrays.named(**SMALL, strength=1).splits()["train"]
    assert same.fingerprint == splits["train"].fingerprint


def test_findings_are_as_frequent_as_they_are_said_to_be() -> None:
    targets = xrays.named(**MANY).splits()["train"].columns["targets"].values
    rates = np.array([finding.rate for finding in FINDING])
    spread = np.sqrt(rates * (1 - rates) / len(targets))
    assert (np.abs(targets.mean(0) - rates) < 4 * spread).all()
    assert 0.2 < (targets.sum(1) == 0).mean() < 0.45


@pytest.mark.parametrize("finding", range(14), ids=NAMES)
def test_every_finding_shows_and_more_so_when_it_is_stronger(finding: int) -> None:
    """On the same chest: without it, and with half and all of its strength on both sides."""

    def film(severity: float) -> np.ndarray:
        signs = np.zeros((14, 6))
        if severity:
            signs[finding] = [severity * FINDING[finding].strength, 1, 1, 0.5, 0.5, 0.5]
        out = np.empty((64, 64, 3), np.uint8)
        expose(1, 4, signs, uniforms(1, 4, CHEST, chest.COLUMNS), out)
        return out[..., 0].astype(float)

    none, half, whole = film(0), film(0.5), film(1)
    first, second = np.abs(half - none), np.abs(whole - none)
    assert (second > 12).mean() > 0.0015  # of 4096 pixels, some change by 12 of 255 levels
    assert second.sum() > 1.15 * first.sum() > 0


def test_a_stronger_world_shows_more() -> None:
    weak, strong = (
        xrays.named(**SMALL, strength=s).splits()["train"].images(range(12)).astype(float)
        for s in (0.01, 2)
    )
    usual = xrays.named(**SMALL).splits()["train"].images(range(12))
    assert np.abs(strong - weak).mean() > 1.3 * np.abs(usual - weak).mean() > 0


def test_reports_name_what_is_there_deny_what_is_not_and_leave_some_out() -> None:
    split = xrays.named(**MANY, omissions=0.3).splits()["train"]
    named = denied = there = absent = 0
    for item in range(300):
        findings, impression = split.sections(item)
        for k, name in enumerate(NAMES):
            said = any(re.search(pattern(w), findings, re.IGNORECASE) for w in SEEN[name])
            if split.columns["targets"][item][k]:
                there += 1
                named += said
            else:
                absent += 1
                assert not said, (name, findings)
                short = [w for w in SUMMARY[name] if "{side}" in w or "recommended" in w]
                assert not any(re.search(pattern(w), impression, re.IGNORECASE) for w in short)
                cores = [w.removeprefix("no ") for w in ABSENT[name]]
                denied += any(core in findings.lower() for core in cores)
    assert 0.6 < named / there < 0.8
    assert 0.25 < denied / absent < 0.55


def test_with_no_omissions_every_finding_is_named() -> None:
    split = xrays.named(**MANY, omissions=0).splits()["train"]
    for item in range(200):
        findings, impression = split.sections(item)
        for k in np.flatnonzero(split.columns["targets"][item]):
            wordings = map(pattern, SEEN[NAMES[k]])
            assert any(re.search(wording, findings, re.IGNORECASE) for wording in wordings)
        assert impression and "{" not in findings + impression


def test_sides_and_degrees_are_those_of_the_film() -> None:
    split = xrays.named(**MANY, omissions=0).splits()["train"]
    effusion, seen = NAMES.index("Effusion"), 0
    for item in np.flatnonzero(split.columns["targets"].values[:, effusion])[:60].tolist():
        severity, right, left = split.signs(item)[effusion, :3]
        side = "bilateral" if right and left else "right" if right else "left"
        found = re.search(r"a (\w+) (\w+) pleural effusion", split.sections(item)[0])
        if found:
            seen += 1
            assert found[2] == side
            share = severity / FINDING[effusion].strength
            assert (found[1] == "severe") == (share >= 0.88)
    assert seen > 5


def test_the_text_may_be_one_section() -> None:
    texts = {
        name: xrays.named(**SMALL, text=name).splits()["train"][3]["text"]
        for name in ("report", "findings", "impression")
    }
    assert texts["report"] == f"{texts['findings']} {texts['impression']}"


def test_severity_lies_between_half_and_all_of_the_strength() -> None:
    split = xrays.named(**MANY).splits()["train"]
    for item in range(100):
        signs, there = split.signs(item), split.columns["targets"][item] > 0
        shares = signs[:, SEVERITY] / [finding.strength for finding in FINDING]
        assert ((shares > 0.5) & (shares <= 1))[there].all() and not shares[~there].any()
        assert (signs[there, 1] + signs[there, 2] >= 1).all()


def test_films_are_shown_with_findings_and_text(tmp_path: Path) -> None:
    out = tmp_path / "x.png"
    assert main(["data", "show", "xrays,size=32,train=3,val=0,test=0", "--out", str(out)]) == 0
    with Image.open(out) as sheet:
        pixels = np.asarray(sheet)
    assert (pixels[36 + 336 + 8 + 36 :] < 100).all(-1).sum() > 200  # letters below the films


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("xrays,sise=3", "Unknown option of the world 'xrays' 'sise'. Did you mean 'size'"),
        ("xrays,text=all", "Unknown text of xrays 'all'. Known: findings, impression, report."),
        ("xrays,omissions=1", "omissions is a share, from 0 to below 1, not 1.0"),
        ("xrays,strength=0", "strength must be above 0, not 0.0"),
        ("xrays,train=0,val=0,test=0", "train, val and test are all 0"),
        ("xray", "Unknown dataset 'xray'. Did you mean 'xrays'"),
    ],
)
def test_mistakes_are_named(name: str, message: str) -> None:
    with pytest.raises(PolymodalError) as caught:
        open_splits(name)
    assert message in str(caught.value)
