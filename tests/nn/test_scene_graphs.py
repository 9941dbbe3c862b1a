"""Graph convolutions against loops over triples, in float64."""

import torch

from ocgans import some_layouts
from polymodal.maths.layout_relations import RELATIONS, relations
from polymodal.nn.scene_graphs import GraphConvolution, SceneGraphEncoder


def encoder() -> SceneGraphEncoder:
    torch.manual_seed(0)
    return SceneGraphEncoder(
        classes=5, relations=len(RELATIONS), dim=6, hidden=8, layers=2
    ).double()


def graphs():
    layouts = some_layouts(3, objects=4, classes=5)
    layouts.there[0, 2:] = False
    layouts.there[1, 1:] = False  # one object alone
    return layouts.classes, relations(layouts.boxes, layouts.there), layouts.there


def naive(layer: GraphConvolution, objects, edges, held):
    """sg2im's convolution: each triple's three vectors joined, a network of them, means at the objects."""
    first = torch.cat([layer.subject.weight, layer.edge.weight, layer.object.weight], 1)
    bias = layer.subject.bias + layer.edge.bias + layer.object.bias
    b, o, _ = objects.shape
    changed, new_edges = objects.clone(), torch.zeros_like(edges)
    for graph in range(b):
        told = {place: [] for place in range(o)}
        for i, j in held[graph].nonzero().tolist():
            triple = torch.cat([objects[graph, i], edges[graph, i, j], objects[graph, j]])
            subject, edge, other = layer.tell(first @ triple + bias).chunk(3)
            told[i].append(subject)
            told[j].append(other)
            new_edges[graph, i, j] = edge
        for place, heard in told.items():
            if heard:
                changed[graph, place] += layer.hear(torch.stack(heard).mean(0))
    return changed, new_edges


def test_a_convolution_is_that_of_all_triples():
    classes, related, _ = graphs()
    layer = GraphConvolution(8).double()
    objects = torch.randn(*classes.shape, 8, dtype=torch.float64)
    edges = torch.randn(*related.shape[:3], 8, dtype=torch.float64)
    held = related.any(-1)
    for found, expected in zip(
        layer(objects, edges, held), naive(layer, objects, edges, held), strict=True
    ):
        torch.testing.assert_close(found, expected)


def test_an_edge_is_the_sum_of_the_relations_that_hold():
    _, related, _ = graphs()
    net = encoder()
    edges = net.edges(related.double())
    i, j = 0, 1
    own = [net.edges.weight[:, r] for r in related[0, i, j].nonzero().flatten()]
    assert len(own) >= 2
    torch.testing.assert_close(edges[0, i, j], torch.stack(own).sum(0))


def test_the_whole_graph_is_the_mean_of_what_is_there():
    classes, related, there = graphs()
    net = encoder()
    found = net(classes, related, there)
    assert found.each.shape == (3, 4, 6)
    alone = net(classes[:1, :2], related[:1, :2, :2], there[:1, :2])
    torch.testing.assert_close(found.whole[:1], alone.whole)
    torch.testing.assert_close(found.each[:1, :2], alone.each)


def test_an_object_that_is_alone_is_its_class():
    classes, related, there = graphs()
    net = encoder()
    found = net(classes, related, there)
    torch.testing.assert_close(found.each[1, 0], net.each(net.objects(classes[1, 0])))


def test_relations_are_told_apart():
    classes, related, there = graphs()
    net = encoder()
    turned = related.transpose(1, 2)  # left of becomes right of
    one, other = (net(classes, way, there) for way in (related, turned))
    assert not torch.allclose(one.whole[2], other.whole[2])


def test_gradients_reach_every_weight():
    classes, related, there = graphs()
    net = encoder()
    classes[2] = torch.arange(4)
    classes[0, :2] = 4
    found = net(classes, related, there)
    (found.each.square().sum() + found.whole.square().sum()).backward()
    idle = [n for n, p in net.named_parameters() if p.grad is None or not p.grad.abs().sum()]
    assert not idle
