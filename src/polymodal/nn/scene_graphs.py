"""Encoders of scene graphs: convolutions over triples of subject, relations and object (003, §6.3.1).

Fig. B.2 (a) is lost in the text; the convolution is that of sg2im (Johnson et al., 2018). All pairs of a
batch are worked on at once. A pair of objects has one edge for all relations that hold, whose embedding
is the sum of theirs.
"""

from dataclasses import dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn


@dataclass(frozen=True)
class GraphFeatures:
    """Scene graphs as vectors: of each object and of the whole."""

    each: Float[Tensor, "b o d"]
    whole: Float[Tensor, "b d"]
    there: Bool[Tensor, "b o"]


class SceneGraphEncoder(nn.Module):
    """Classes and relations to features of each object and of the whole graph.

    Args:
        classes: how many there are.
        relations: how many there are.
        dim: the width of the features.
        hidden: the width of objects and edges within.
        layers: graph convolutions.
    """

    def __init__(self, *, classes: int, relations: int, dim: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.objects = nn.Embedding(classes, hidden)
        self.edges = nn.Linear(relations, hidden, bias=False)
        self.layers = nn.ModuleList(GraphConvolution(hidden) for _ in range(layers))
        self.each = nn.Linear(hidden, dim)
        self.whole = nn.Linear(hidden, dim)

    def forward(
        self,
        classes: Int[Tensor, "b o"],
        relations: Bool[Tensor, "b o o r"],
        there: Bool[Tensor, "b o"],
    ) -> GraphFeatures:
        objects = self.objects(classes)
        edges = self.edges(relations.to(objects.dtype))
        held = relations.any(-1)
        for layer in self.layers:
            objects, edges = layer(objects, edges, held)
        weights = there[..., None].to(objects.dtype)
        pooled = (objects * weights).sum(1) / weights.sum(1).clamp_min(1)
        return GraphFeatures(self.each(objects), self.whole(pooled), there)


class GraphConvolution(nn.Module):
    """Each triple tells its subject, its edge and its object something; an object adds the mean of what it
    was told to what it was.

    sg2im joins all objects to a node of the picture, so that one that is alone is told something too; here
    it stays what it was.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.subject, self.edge, self.object = (nn.Linear(dim, dim) for _ in range(3))
        self.tell = nn.Sequential(nn.ReLU(), nn.Linear(dim, 3 * dim), nn.ReLU())
        self.hear = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))

    def forward(
        self,
        objects: Float[Tensor, "b o d"],
        edges: Float[Tensor, "b o o d"],
        held: Bool[Tensor, "b o o"],
    ) -> tuple[Float[Tensor, "b o d"], Float[Tensor, "b o o d"]]:
        # the first layer of a triple's network: three products of what it is joined from
        joined = self.subject(objects)[:, :, None] + self.object(objects)[:, None]
        told = self.tell(joined + self.edge(edges)) * held[..., None]
        to_subject, to_edge, to_object = told.chunk(3, -1)
        count = held.sum(2) + held.sum(1)
        heard = (to_subject.sum(2) + to_object.sum(1)) / count.clamp_min(1)[..., None]
        changed = self.hear(heard) * (count > 0)[..., None]
        return objects + changed, to_edge
