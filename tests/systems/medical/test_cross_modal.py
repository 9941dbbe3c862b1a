"""Bounds between modalities: the mean over the pairs that take part, against plain loops in float64."""

import math
from itertools import permutations

import pytest
import torch
from torch.nn.functional import softplus

from polymodal.systems.medical.cmim import Config
from polymodal.systems.medical.cross_modal import CrossModal

NAMES = ("flair", "t1", "t2")
WIDTHS = {"flair": 3, "t1": 4, "t2": 5, "joint": 6}
THERE = torch.tensor([[1, 1, 0], [1, 1, 1], [0, 1, 1], [1, 1, 1]]).bool()


def made(**settings) -> CrossModal:
    config = Config(**{"critic_hidden": 7, "others": 99, "lambda_ll": 0.0} | settings)
    torch.manual_seed(0)
    return CrossModal(NAMES, local=WIDTHS, whole=WIDTHS, config=config).double()


def features(places: int) -> dict[str, torch.Tensor]:
    torch.manual_seed(places)
    return {name: torch.randn(4, places, width).double() for name, width in WIDTHS.items()}


def plain(critic, left: torch.Tensor, right: torch.Tensor, rows: list[int]) -> float:
    """Jensen–Shannon of each place with its own and with that of every other item."""
    true, false = [], []
    for i in rows:
        for p in range(left.shape[1]):
            for j in rows:
                other = right[j, p if right.shape[1] > 1 else 0]
                score = critic.rest(critic.first(torch.cat([left[i, p], other])))
                (true if i == j else false).append(score)
    terms = softplus(-torch.cat(true)).mean() + softplus(torch.cat(false)).mean()
    return math.log(4) - terms.item()


def rows_with(*names: str) -> list[int]:
    """The items that have these modalities; of all together every item has something."""
    places = [NAMES.index(name) for name in names if name != "joint"]
    return [row for row in range(4) if THERE[row, places].all()]


@pytest.mark.parametrize("pairs", ["modalities", "joint", "both"])
def test_local_bounds_are_the_mean_over_ordered_pairs(pairs: str) -> None:
    module = made(lambda_ll=1.0, pairs=pairs)
    local, whole = features(3), features(1)
    found = module(local, whole, THERE)
    wanted = list(permutations(NAMES, 2)) if pairs != "joint" else []
    if pairs != "modalities":
        wanted += [(name, "joint") for name in NAMES] + [("joint", name) for name in NAMES]
    assert set(module.critics) == {f"ll:{n}>{m}" for n, m in wanted}
    each = [
        plain(module.critics[f"ll:{n}>{m}"], local[n], local[m], rows_with(n, m)) for n, m in wanted
    ]
    assert set(found) == {"ll"}
    assert found["ll"].item() == pytest.approx(sum(each) / len(each), abs=1e-10)


def test_global_bounds_are_of_each_modality_with_all() -> None:
    module = made(lambda_lg=1.0, lambda_gg=1.0)
    local, whole = features(3), features(1)
    found = module(local, whole, THERE)
    for kind, left in (("lg", local), ("gg", whole)):
        each = [
            plain(module.critics[f"{kind}:{n}>joint"], left[n], whole["joint"], rows_with(n))
            for n in NAMES
        ]
        assert found[kind].item() == pytest.approx(sum(each) / 3, abs=1e-10)


def test_a_pair_that_one_item_alone_has_takes_no_part() -> None:
    module = made(lambda_ll=1.0)
    local, whole = features(3), features(1)
    there = torch.tensor([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1]]).bool()
    found = module(local, whole, there)["ll"].item()
    each = [
        plain(module.critics[f"ll:{n}>{m}"], local[n], local[m], [0, 1])
        for n, m in (("flair", "t1"), ("t1", "flair"))
    ]
    assert found == pytest.approx(sum(each) / 2, abs=1e-10)
    assert module(local, whole, torch.eye(4, 3).bool()) == {}


def test_where_nothing_is_missing_nothing_is_left_out() -> None:
    module = made(lambda_ll=1.0)
    local, whole = features(3), features(1)
    everything = module(local, whole, torch.ones(4, 3, dtype=torch.bool))["ll"]
    torch.testing.assert_close(everything, module(local, whole, None)["ll"])


@pytest.mark.parametrize(
    ("asked", "width", "hidden"), [(None, 6, 12), (None, 300, 512), (512, 6, 512), (3, 300, 3)]
)
def test_a_critic_is_twice_as_wide_as_what_it_compares(asked, width, hidden) -> None:
    widths = dict.fromkeys(NAMES, 4) | {"t2": width, "joint": 6}
    config = Config(lambda_ll=1.0, critic_hidden=asked)
    critics = CrossModal(NAMES, local=widths, whole=widths, config=config).critics
    for pair in ("ll:flair>t2", "ll:t2>flair"):
        assert critics[pair].first.out_features == critics[pair].rest[1].in_features == hidden
    assert critics["ll:flair>t1"].first.out_features == (asked or 8)
