"""CMIM: it learns, with any subset of the modalities, and its bounds are what they say."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.data.columns import Stored
from polymodal.data.records import Dataset
from polymodal.systems.medical import cmim, hemis, shaspec, unet
from scans import INFORMED, made, scan_splits, scans, trained
from toys import fall

SYSTEMS = {
    "cmim": (cmim, INFORMED),
    "hemis": (hemis, {"curriculum": 5}),
    "unet": (unet, {}),
    "shaspec": (shaspec, {}),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_it_overfits_a_batch(name: str) -> None:
    module, settings = SYSTEMS[name]
    train = scans(12)
    system = made(module, train, **settings | ({"lambda_ll": 0.0} if name == "cmim" else {}))
    losses = fall(system, system.examples(train).batch(np.arange(8)), 40)
    assert losses[-1] < 0.3 * losses[0]


def test_every_subset_is_scored_and_the_weak_modality_is_worse() -> None:
    splits = scan_splits(count=60, names=("flair", "t1", "t2"))
    system = trained(cmim, splits["train"], **INFORMED)
    scores = system.evaluate(splits["test"])
    subsets = ["flair", "t1", "t2", "flair+t1", "flair+t2", "t1+t2", "flair+t1+t2"]
    for kind in ("dice", "hd95", "sensitivity", "patients"):
        assert {f"{kind}_{own}" for own in subsets} <= scores.keys()
    assert scores["dice_flair"] > 85
    assert scores["dice_flair"] > scores["dice_t1"]
    assert scores["hd95_flair"] < scores["hd95_t1"]
    assert scores["dice_all"] == scores["dice_flair+t1+t2"] > 85
    alone = [scores[f"dice_{name}"] for name in ("flair", "t1", "t2")]
    assert scores["dice_alone"] == pytest.approx(np.mean(alone))
    assert scores["dice_mean"] == pytest.approx(np.mean([scores[f"dice_{o}"] for o in subsets]))
    assert system.validate(splits["val"])["dice_alone"] > 50
    assert 0 < scores["bound_ll"] < np.log(4)
    assert system.evaluate(splits["test"])["bound_ll"] == scores["bound_ll"]
    assert "not a medical device" in system.protocol()["use"]


def test_it_can_be_seen_that_a_filled_net_needs_what_it_was_trained_with() -> None:
    splits = scan_splits(count=60, names=("flair", "t1"))
    whole = trained(unet, splits["train"]).evaluate(splits["test"])
    assert whole["dice_all"] > 85
    dropped = trained(hemis, splits["train"], curriculum=10).evaluate(splits["test"])
    assert dropped["dice_flair"] > 80
    filled = trained(unet, splits["train"], fill="mlp").evaluate(splits["test"])
    assert filled["dice_all"] == pytest.approx(whole["dice_all"], abs=10)


def test_in_three_dimensions_with_several_classes() -> None:
    train = scans(12, side=8, dims=3, classes=2)
    system = made(cmim, train, **INFORMED, levels=2, augment=True)
    batch = system.examples(train).batch(np.arange(4))
    assert torch.isfinite(system.train().training_step(batch, 0)["loss"])
    scores = system.evaluate(train)
    assert {"dice_flair_label1", "dice_flair_label2", "hd95_t1_label1"} <= scores.keys()
    assert scores["dice_t1"] == pytest.approx(
        (scores["dice_t1_label1"] + scores["dice_t1_label2"]) / 2
    )


@pytest.mark.parametrize(
    ("weights", "kinds"),
    [
        ({"lambda_ll": 0.0}, set()),
        ({"lambda_ll": 0.5}, {"ll"}),
        ({"lambda_ll": 0.0, "lambda_lg": 0.5}, {"lg"}),
        ({"lambda_ll": 0.5, "lambda_lg": 0.5}, {"ll", "lg"}),
        ({"lambda_ll": 0.0, "lambda_gg": 0.5}, {"gg"}),
    ],
)
def test_each_bound_is_chosen_by_its_weight(weights: dict, kinds: set) -> None:
    train = scans(12)
    system = made(cmim, train, **INFORMED, **weights)
    batch = system.examples(train).batch(np.arange(8))
    given, there, whole = system.scans(batch)
    bounds = system.bounds(system.encode(given), there, whole)
    assert [set(own) for own in bounds] == ([kinds] if kinds else [])
    assert len(list(system.information.parameters())) == 6 * 2 * len(kinds)  # a critic a pair


def test_the_bounds_are_subtracted_with_their_weight_and_warm_up() -> None:
    """L = λ_S L_seg − λ I (003, eq. 8.3.6)."""
    train = scans(12)
    system = made(cmim, train, **INFORMED, lambda_ll=0.4, seg_weight=0.0, lambda_warmup=4)
    batch = system.examples(train).batch(np.arange(8))
    given, there, whole = system.scans(batch)
    for step, share in ((0, 0.25), (1, 0.5), (9, 1.0)):
        system.clock.step = step
        torch.manual_seed(1)
        loss = system.training_step(batch, step)["loss"]
        torch.manual_seed(1)
        information = system.bounds(system.encode(given), there, whole)[0]["ll"]
        torch.testing.assert_close(loss, -share * 0.4 * information)
    system = made(cmim, train, **INFORMED, lambda_ll=0.0)
    seg = system.training_step(batch, 0)["loss"]
    double = made(cmim, train, **INFORMED, lambda_ll=0.0, seg_weight=2.0)
    torch.testing.assert_close(double.training_step(batch, 0)["loss"], 2 * seg)


def test_several_layers_and_few_of_their_places_may_be_compared() -> None:
    train = scans(12)
    system = made(cmim, train, **INFORMED, layers=(1, -1), most_places=5)
    given, there, whole = system.scans(system.examples(train).batch(np.arange(8)))
    encoded = system.encode(given)
    seen = []
    for own in system.information:
        own.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]["t1"].shape))
    assert len(system.bounds(encoded, there, whole)) == 2
    assert seen == [(8, 5, 16), (8, 5, 32)]  # of 64 places and of 16


def test_what_is_missing_takes_no_part() -> None:
    """Whatever stands in place of a missing scan, losses and gradients are the same."""
    train = scans(12, names=("flair", "t1", "t2"), lacking={"t1": 3, "t2": 4})
    system = made(cmim, train, **INFORMED, lambda_lg=0.3, lambda_gg=0.2, learn_from="each")
    examples = system.examples(train)
    batch = examples.batch(np.arange(12))
    assert batch.t1_present.sum() == 8
    found = []
    for other in (0.0, 100.0):
        t1 = batch.t1.clone()
        t1[~batch.t1_present] = other
        torch.manual_seed(1)
        system.zero_grad()
        loss = system.training_step(type(batch)(**vars(batch) | {"t1": t1}), 0)["loss"]
        loss.backward()
        found.append((loss, system.encoders["t1"].levels[0][0].weight.grad.clone()))
    torch.testing.assert_close(*found)


def test_an_item_without_a_mask_takes_part_in_the_bounds_alone() -> None:
    whole = scans(12)
    known = np.arange(12) % 2 == 0
    mask = Stored(np.where(known[:, None, None], whole.columns["mask"].values, 0), present=known)
    train = Dataset({**whole.columns, "mask": mask})
    system = made(cmim, train, **INFORMED, lambda_ll=0.0)
    examples = system.examples(train)
    some, none = np.arange(0, 12, 2), np.arange(1, 12, 2)
    torch.manual_seed(1)
    both = system.training_step(examples.batch(np.concatenate([some, none])), 0)["loss"]
    torch.testing.assert_close(both, system.training_step(examples.batch(some), 0)["loss"])
    assert system.training_step(examples.batch(none), 0)["loss"] == 0
    informed = made(cmim, train, **INFORMED, lambda_ll=0.5)
    assert informed.training_step(examples.batch(none), 0)["loss"] != 0
    assert system.evaluate(train)["patients_t1"] == 4


def test_a_teacher_gets_no_gradient_of_a_bound() -> None:
    train = scans(12)
    settings = INFORMED | {"lambda_ll": 0.5, "seg_weight": 0.0}
    for teachers, moves in (((), True), (("flair",), False)):
        system = made(cmim, train, **settings, teachers=teachers)
        batch = system.examples(train).batch(np.arange(8))
        system.training_step(batch, 0)["loss"].backward()
        gradient = system.encoders["flair"].levels[0][0].weight.grad
        assert (gradient is not None and bool(gradient.abs().sum() > 0)) == moves
        assert system.encoders["t1"].levels[0][0].weight.grad.abs().sum() > 0


def test_the_target_may_be_one_of_the_labels() -> None:
    train = scans(12, classes=3)
    system = made(cmim, train, **INFORMED, target=(2,))
    batch = system.examples(train).batch(np.arange(6))
    assert system.truth(batch.mask).equal((batch.mask == 2).long())
    assert system.classes == ["target"]
    gap = Dataset({**train.columns, "mask": Stored(2 * train.columns["mask"].values)})
    system = made(cmim, gap)
    assert system.learned["labels"] == [0, 2, 4, 6]
    batch = system.examples(gap).batch(np.arange(6))
    assert system.truth(batch.mask).unique().tolist() == [0, 1, 2, 3]


def test_classes_have_the_names_that_the_masks_give_them() -> None:
    @dataclass(frozen=True, eq=False)
    class Named(Stored):
        classes: tuple[str, ...] = ()

    train = scans(6)
    mask = Named(train.columns["mask"].values, classes=("none", "core", "dark rim"))
    system = made(cmim, Dataset({**train.columns, "mask": mask}))
    assert (system.learned["labels"], system.classes) == ([0, 1, 2], ["core", "dark-rim"])
    assert system.evaluate(Dataset({**train.columns, "mask": mask}))["dice_t1_dark-rim"] >= 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layers": (3,)}, "--layers are levels of the U-Net, from -3 to 2.*found 3"),
        ({"layers": ()}, "one at least; found none"),
        ({"levels": 9}, r"A grid of 16×16 cannot be halved 8 times. Give --levels 5 or fewer"),
        ({"teachers": ("t2",)}, "--teachers names 't2', but the modalities are flair, t1, joint"),
        ({"teachers": ("t1", "flair")}, "--teachers names every modality"),
        ({"modalities": ("t1",)}, "Information is between modalities, but there is only t1"),
        ({"modalities": ("t1", "t1")}, "A modality is named twice: t1, t1"),
        ({"modalities": ("t3",)}, "needs the column 't3', but these data have only"),
        ({"modalities": ("group",)}, "The column 'group' holds no scans"),
        ({"target": (7,)}, "--target names the labels 7, but the masks have only 0, 1"),
        ({"others": 0}, "others must be 1 or more"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(PolymodalError, match=message):
        made(cmim, scans(6), **settings)


def test_data_that_cannot_be_are_refused() -> None:
    train = scans(6)
    columns = dict(train.columns)
    system = made(cmim, train)
    other = Dataset({**columns, "mask": Stored(3 * columns["mask"].values)}, ids=train.ids)
    with pytest.raises(
        PolymodalError, match="The mask of '0' has labels that no training mask has: 3"
    ):
        system.evaluate(other)
    with pytest.raises(PolymodalError, match="trained on scans of 16×16, but the data are 20×20"):
        system.check({"val": scans(6, side=20)})
    with pytest.raises(PolymodalError, match="all have one grid; found flair 16×16, t1 20×20"):
        wide = scans(6, side=20).columns["t1"]
        made(cmim, Dataset({**columns, "t1": wide}))
    with pytest.raises(PolymodalError, match="the label 0 alone"):
        made(cmim, Dataset({**columns, "mask": Stored(0 * columns["mask"].values)}))
    with pytest.raises(PolymodalError, match=r"A mask has a whole number .* found float32"):
        made(cmim, Dataset({**columns, "mask": Stored(columns["mask"].values.astype(np.float32))}))
    with pytest.raises(PolymodalError, match="'t1' has mean 2 and standard deviation 0"):
        made(cmim, Dataset({**columns, "t1": Stored(np.full((6, 1, 16, 16), 2.0))}))
    with pytest.raises(PolymodalError, match="No training item has the modality 't1'"):
        lost = Stored(columns["t1"].values, present=np.zeros(6, np.bool_))
        made(cmim, Dataset({**columns, "t1": lost}))
    with pytest.raises(PolymodalError, match="needs modalities, such as t1 and flair"):
        made(cmim, Dataset({"mask": columns["mask"]}))
    with pytest.raises(
        PolymodalError, match="No item of the validation split has what --select all"
    ):
        lacks = scans(6, lacking={"t1": 1})
        made(cmim, train, select="all").validate(lacks)


def test_a_modality_with_which_nothing_is_found_is_named() -> None:
    system = made(unet, scans(6))
    (told,) = system.symptoms({"sensitivity_t1": 0.2})
    assert told.startswith("With t1 alone next to nothing is found. Train longer, or on single")
    (told,) = made(cmim, scans(6)).symptoms({"sensitivity_t1": 0.2, "sensitivity_flair": 0.0})
    assert told == "With flair or t1 alone next to nothing is found. Train longer."
    assert not system.symptoms({"sensitivity_t1": 50.0, "sensitivity_flair": 90.0})


@pytest.mark.parametrize(
    ("settings", "scores", "told"),
    [
        ({}, {"bound_ll": 1.3}, ["The local–local bound is saturated: 1.30 of at most 1.39 nats"]),
        ({}, {"bound_ll": 1.2, "bound_lg": 1.38}, ["The local–global bound is saturated: 1.38"]),
        ({"bound": "infonce"}, {"bound_ll": 1.3}, []),  # of at most log 5
        ({"bound": "infonce"}, {"bound_gg": 1.5}, ["The global–global bound is saturated: 1.50"]),
        (  # a global feature has no other place
            {"bound": "infonce", "elsewhere": 9},
            {"bound_ll": 1.5, "bound_gg": 1.5},
            ["The global–global bound is saturated: 1.50 of at most 1.61"],
        ),
        ({"bound": "donsker-varadhan"}, {"bound_ll": 50.0}, []),
    ],
)
def test_a_saturated_bound_is_told(settings: dict, scores: dict, told: list[str]) -> None:
    found = made(cmim, scans(6), **INFORMED, **settings).symptoms(scores)
    assert len(found) == len(told)
    assert all(one.startswith(start) for one, start in zip(found, told, strict=True))
    assert all("negatives from the same image (--elsewhere)" in one for one in found)
    more = made(cmim, scans(6), **INFORMED, elsewhere=2).symptoms({"bound_ll": 1.38})
    assert "Give more negatives" in more[0]
