"""Which modalities a step looks at: never one that an item lacks, and one at least of what there is."""

import pytest
import torch

from polymodal.systems.medical.training_subsets import some_of, training_subsets

THERE = torch.tensor([[1, 1, 1], [1, 0, 1], [0, 0, 1], [0, 0, 0]]).bool()


@pytest.mark.parametrize("kind", ["each", "random", "curriculum", "all"])
def test_what_is_missing_is_never_looked_at(kind: str) -> None:
    for seed in range(20):
        torch.manual_seed(seed)
        found = training_subsets(THERE, kind)
        assert not (found & ~THERE).any()
        assert found.any(0).equal(THERE) or kind in ("random", "curriculum")
        if kind != "each":
            assert found.shape == (1, 4, 3)
            assert found[0].any(1).tolist() == [True, True, True, False]


def test_each_is_every_modality_alone_and_all() -> None:
    found = training_subsets(THERE, "each")
    assert found.shape == (4, 4, 3)
    assert found[:, 0].long().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
    assert found[:, 1].long().tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1], [1, 0, 1]]
    one = torch.ones(2, 1, dtype=torch.bool)
    assert training_subsets(one, "each").equal(one[None])


def test_random_subsets_have_every_size_alike() -> None:
    torch.manual_seed(0)
    there = torch.ones(6000, 3, dtype=torch.bool)
    sizes = training_subsets(there, "random")[0].sum(1).bincount(minlength=4) / 6000
    assert sizes.tolist() == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3], abs=0.03)
    alone = some_of(there, torch.full((6000,), 2)).float().mean(0)
    assert alone.tolist() == pytest.approx([1 / 3] * 3, abs=0.03)


def test_the_curriculum_begins_with_all_and_seldom_drops_much() -> None:
    torch.manual_seed(0)
    there = torch.ones(7000, 3, dtype=torch.bool)
    assert training_subsets(there, "curriculum", warm=True)[0].all()
    sizes = training_subsets(there, "curriculum")[0].sum(1).bincount(minlength=4) / 7000
    assert sizes.tolist() == pytest.approx([0, 1 / 7, 2 / 7, 4 / 7], abs=0.03)
