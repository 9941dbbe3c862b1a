"""Inner products as L2 distances: the same ranking, every item nearest to itself."""

import torch

from clusters import clustered, numbered, recall
from polymodal.search import Settings, build, lifts
from polymodal.search.spheres import Sphere, sphere, toward


def drawn():
    torch.manual_seed(0)
    items = torch.randn(60, 5, dtype=torch.double) * torch.tensor([1.0, 9.0, 0.1, 1.0, 0.0])
    items = items + torch.tensor([0.0, 50.0, 0.0, -3.0, 7.0])  # one column is the same for all
    return items, torch.randn(8, 5, dtype=torch.double)


def test_the_least_distance_is_the_greatest_product():
    items, queries = drawn()
    found = sphere(lambda: items.split(7), queries)
    x, q = found(items), toward(found.scale, queries)
    distances = torch.cdist(q, x)
    assert torch.equal(distances.argsort(1), (queries @ items.T).argsort(1, descending=True))
    products = 0.5 * (found.square + q.square().sum(1)[:, None] - distances.square())
    torch.testing.assert_close(products, queries[:, :4] @ (items - items.mean(0))[:, :4].T,
                               rtol=1e-4, atol=1e-3)  # fmt: skip


def test_every_item_lies_on_the_sphere():
    items, queries = drawn()
    found = sphere(lambda: items.split(60), queries)
    torch.testing.assert_close(
        found(items).square().sum(1), torch.full((60,), found.square, dtype=torch.double)
    )


def test_scales_balance_items_and_queries():
    items, queries = drawn()
    found = sphere(lambda: [items], queries)
    assert found.scale[4] == 0
    spread = found(items)[:, :4].std(0, correction=0)
    weight = toward(found.scale, queries)[:, :4].square().mean(0).sqrt()
    torch.testing.assert_close(spread, weight, rtol=1e-4, atol=1e-5)


def test_items_that_are_all_alike():
    items = torch.ones(5, 3)
    found = sphere(lambda: [items], torch.ones(2, 3))
    assert found(items).isfinite().all()
    assert toward(found.scale, torch.ones(2, 3)).isfinite().all()


def test_scales_are_what_makes_lists_work(monkeypatch):
    items, queries = clustered(3000, 32), clustered(50, 32, seed=1).mean
    how = {"side": "image", "measure": "mahalanobis"}
    exact = build(items, numbered(3000), **how).search(queries)[1]

    def found():
        settings = Settings(kind="ivf", probes=8)
        index = build(items, numbered(3000), **how, settings=settings)
        return recall(index.search(queries)[1], exact)

    def unscaled(blocks, queries):
        mean = sphere(blocks, queries).mean
        farthest = max((block - mean).square().sum(1).max().item() for block in blocks())
        return Sphere(mean, torch.ones_like(mean), farthest)

    assert found() > 0.98
    monkeypatch.setattr(lifts, "sphere", unscaled)
    assert found() < 0.5
