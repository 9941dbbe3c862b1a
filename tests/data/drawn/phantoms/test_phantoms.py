"""The worlds of phantoms: the same on every machine, patients apart, and as hard as real scans are."""

import hashlib
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from polymodal.base.errors import PolymodalError
from polymodal.data.drawn import phantoms
from polymodal.data.modalities import MR, modalities
from polymodal.data.sources import open_splits

SMALL: dict[str, Any] = {"size": 24, "train": 12, "val": 4, "test": 8}


def arrays(split, rows) -> dict[str, np.ndarray]:
    return {name: split.columns[name].batch(rows) for name in (*MR, "mask")}


def test_slices_have_four_sequences_a_mask_and_a_patient() -> None:
    split = phantoms.named(**SMALL).splits()["train"]
    assert modalities(split) == MR
    found = arrays(split, [0, 5])
    for name in MR:
        assert found[name].shape == (2, 1, 24, 24) and found[name].dtype == np.float32
        assert found[name].min() >= 0 and 0.5 < found[name].max() <= 1
    assert found["mask"].shape == (2, 24, 24) and found["mask"].dtype == np.uint8
    assert split.columns["mask"].classes == ("background", "necrosis", "oedema", "enhancing")
    assert list(split.columns["group"])[:5] == ["train-00000"] * 4 + ["train-00001"]
    assert split.ids[5] == "phantoms-0-train-00001-1" and split.rule == "24×24: drawn at this size"
    assert split[5]["flair"].shape == (1, 24, 24)


def test_volumes_have_planes_and_an_affine() -> None:
    world = phantoms.named("phantoms-3d", size=16, train=2, val=1, test=1)
    split = world.splits()["train"]
    found = arrays(split, [1])
    assert found["t1c"].shape == (1, 1, 8, 16, 16) and found["mask"].shape == (1, 8, 16, 16)
    affine = split[1]["affine"]
    middle = affine @ [7.5, 7.5, 0, 1]
    assert np.allclose(middle[:2], 0) and np.allclose(np.abs(np.diag(affine)[:3]), 220 / 16)
    assert affine[0, 0] < 0 and affine[1, 1] < 0  # columns run to the left, rows to the back
    assert len(set(split.columns["group"])) == 2 and split.rule == "8×16×16: drawn at this size"


def test_an_item_is_the_same_whatever_is_drawn_with_it_and_on_every_machine() -> None:
    split = phantoms.named(**SMALL).splits()["train"]
    more = phantoms.named(**SMALL | {"train": 40, "val": 0}).splits()["train"]
    one, other = arrays(split, [0, 3, 6]), arrays(more, [6, 3, 0])
    assert all(np.array_equal(one[name], other[name][::-1]) for name in one)
    again = pickle.loads(pickle.dumps(split))
    assert all(np.array_equal(one[name], arrays(again, [0, 3, 6])[name]) for name in one)
    digest = hashlib.sha256(b"".join(value.tobytes() for value in one.values())).hexdigest()
    assert digest[:16] == "b3eb150f6e9fc145"


def test_what_is_not_kept_is_drawn_anew_and_the_same(monkeypatch) -> None:
    kept = arrays(phantoms.named(**SMALL).splits()["val"], [1, 2])
    monkeypatch.setattr("polymodal.data.drawn.kernel.keeping.LIMIT", 0)
    split = phantoms.named(**SMALL).splits()["val"]
    assert all(np.array_equal(kept[name], arrays(split, [1, 2])[name]) for name in kept)
    assert split.scans.some._arrays is None


def test_no_patient_is_in_two_splits_and_seeds_have_others() -> None:
    splits = phantoms.named(**SMALL).splits()
    groups = [set(split.columns["group"]) for split in splits.values()]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 6
    firsts = [split.columns["t1"].batch([0]) for split in splits.values()]
    firsts.append(phantoms.named(seed=1, **SMALL).splits()["train"].columns["t1"].batch([0]))
    assert len({first.tobytes() for first in firsts}) == 4
    assert len({split.fingerprint for split in splits.values()}) == 3


def test_raw_intensity_tells_the_enhancing_tumour_in_t1c_half_in_t2_and_flair_hardly_in_t1() -> (
    None
):
    split = phantoms.named(size=48, train=120, val=0, test=0).splits()["train"]
    found = arrays(split, range(120))
    head = found["t1"][:, 0] > 0.08
    inside = found["mask"][head] == 3
    auc = {name: roc_auc_score(inside, found[name][:, 0][head]) for name in MR}
    assert auc["t1c"] > 0.92
    assert 0.65 < auc["t2"] < auc["flair"] < auc["t1c"] - 0.04
    assert 0.35 < auc["t1"] < 0.6
    tumour = (found["mask"] > 0).any((1, 2)).mean()
    assert 0.6 < tumour < 0.98  # some slices have none


def test_oedema_shines_in_flair_and_fluid_does_not() -> None:
    world = phantoms.named(size=48, train=24, val=0, test=0, bias=0, noise=0, stripped=True)
    found = arrays(world.splits()["train"], range(24))
    oedema = found["mask"] == 2
    brain = (found["t1"][:, 0] > 0) & (found["mask"] == 0)
    fluid = brain & (found["t2"][:, 0] > 0.65)  # the brightest of T2
    flair, t1 = found["flair"][:, 0], found["t1"][:, 0]
    assert flair[oedema].mean() > 1.5 * flair[brain].mean() > 3 * flair[fluid].mean()
    assert t1[oedema].mean() < np.median(t1[brain])


def test_missing_sequences_are_of_whole_training_patients_and_one_is_left() -> None:
    splits = phantoms.named(**SMALL | {"train": 400}, missing=0.6).splits()
    there = np.stack([splits["train"].columns[name].present for name in MR], 1)
    assert there.any(1).all() and 0.5 < 1 - there.mean() < 0.62
    patients = there.reshape(100, 4, 4)
    assert (patients == patients[:, :1]).all()
    assert all(splits["val"].columns[name].present is None for name in MR)
    row = int((~there[:, 0]).argmax())
    assert "t1" not in splits["train"][row]
    assert not splits["train"].columns["t1"].batch([row]).any()


def test_misregistration_moves_sequences_and_not_the_mask() -> None:
    still = phantoms.named(**SMALL, noise=0, bias=0).splits()["val"]
    moved = phantoms.named(**SMALL, noise=0, bias=0, misregistration=6).splits()["val"]
    one, other = arrays(still, range(4)), arrays(moved, range(4))
    assert np.array_equal(one["mask"], other["mask"])
    apart = [np.abs(one[name] - other[name]).mean() for name in MR]
    assert min(apart) > 0.01


@pytest.mark.parametrize(("option", "least"), [("noise", 0.01), ("bias", 0.01)])
def test_noise_and_bias_can_be_left_out(option, least) -> None:
    clean = phantoms.named(**SMALL, noise=0, bias=0).splits()["val"].columns["t1"].batch(range(4))
    other: dict[str, Any] = {"noise": 0, "bias": 0, option: 0.2}
    changed = phantoms.named(**SMALL, **other).splits()["val"].columns["t1"].batch(range(4))
    assert np.abs(clean - changed).mean() > least
    assert (clean[:, :, 0, [0, -1]] == 0).all()  # air


def test_by_name() -> None:
    splits = open_splits("phantoms,size=16,train=4,val=4,test=4,missing=0.25,stripped=yes,slices=2")
    world = splits["train"].world
    assert (world.size, world.missing, world.stripped, world.slices) == (16, 0.25, True, 2)
    assert len(open_splits("phantoms-3d,size=16,train=2,val=0,test=1")) == 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("phantoms,sise=3", "Unknown option of the world 'phantoms' 'sise'. Did you mean 'size'"),
        ("phantoms-3d,slices=3", "Unknown option of the world 'phantoms-3d' 'slices'"),
        ("phantom", "Unknown dataset 'phantom'. Did you mean 'phantoms'"),
        ("phantoms:x", "'phantoms:x' is not how these data are named. Write phantoms."),
        ("phantoms,missing=1", "missing is a share, from 0 to below 1, not 1.0"),
        ("phantoms,missing=much", "missing is a number such as 0.3, not 'much'"),
        ("phantoms,noise=-1", "noise must be 0 or more, not -1.0"),
        ("phantoms,slices=0", "slices must be 1 or more, not 0"),
        ("phantoms,stripped=1", "stripped is yes or no, not '1'"),
        ("phantoms,size=8", "size is 8, but images are square and from 16"),
        ("phantoms,train=0,val=0,test=0", "train, val and test are all 0"),
    ],
)
def test_mistakes_are_named(name, message) -> None:
    with pytest.raises(PolymodalError) as caught:
        open_splits(name)
    assert message in str(caught.value)
