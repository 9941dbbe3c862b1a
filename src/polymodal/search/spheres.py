"""Inner products as L2 distances, for lists and graphs, which serve products badly.

The product x·q of an item x and a query q is greatest where the L2 distance of x′ and q′ is least:

    x′ = [s (x − x̄), √(M² − ‖s (x − x̄)‖²)],   q′ = [q / s, 0],   ‖x′ − q′‖² = M² + ‖q / s‖² − 2 (x − x̄)·q,

so that every item lies on a sphere of radius M, and the item nearest to an item is itself. The mean x̄
takes the same from all products of a query, and keeps M and with it rounding small. The scales s, one a
coordinate, leave the products as they are, but decide which items lie close together: with
s² = rms(q) / std(x), a coordinate counts as much among items as it does in the products. (On the
clustered Gaussians of the tests, under Mahalanobis, IVF's recall at 10 is 0.37 without scales and 0.996
with them.) As queries are not known when an index is built, items are taken for them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Sphere:
    """Where the lifted items of an index lie."""

    mean: Float[Tensor, " w"]
    scale: Float[Tensor, " w"]
    square: float
    """The square of the radius."""

    def __call__(self, vectors: Float[Tensor, "b w"]) -> Float[Tensor, "b v"]:
        """Items on the sphere."""
        x = self.scale * (vectors - self.mean)
        rest = (self.square - x.double().square().sum(1)).clamp(min=0).sqrt()
        return torch.cat([x, rest[:, None].to(x)], 1)


def toward(scale: Float[Tensor, " w"], queries: Float[Tensor, "m w"]) -> Float[Tensor, "m v"]:
    """Queries before a sphere of that scale; where all items are alike, nothing depends on them."""
    q = torch.where(scale > 0, queries / scale, 0)
    return torch.nn.functional.pad(q, (0, 1))


def sphere(
    blocks: Callable[[], Iterable[Float[Tensor, "b w"]]], queries: Float[Tensor, "m w"]
) -> Sphere:
    """The sphere of lifted items, read twice by blocks; `queries` are like those to come."""
    count, total, squares = 0, torch.zeros(()), torch.zeros(())
    for block in blocks():
        rows = block.double()
        count += len(rows)
        total, squares = total + rows.sum(0), squares + rows.square().sum(0)
    mean = total / count
    std = (squares / count - mean.square()).clamp(min=0).sqrt()
    varied = std > 1e-6 * std.max()
    scale = torch.where(varied, (queries.double().square().mean(0).sqrt() / std).sqrt(), 0).float()
    start = Sphere(mean.float(), scale, 0.0)
    inside = (start.scale * (block - start.mean) for block in blocks())
    farthest = max(x.double().square().sum(1).max().item() for x in inside)
    return Sphere(start.mean, start.scale, farthest)
