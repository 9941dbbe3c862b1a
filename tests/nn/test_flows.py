"""Flows against autograd's Jacobian in float64, on grids in two dimensions, and against their samples."""

import math
from collections import Counter

import pytest
import torch
from torch import nn
from torch.autograd.functional import jacobian
from torch.utils._python_dispatch import TorchDispatchMode

from polymodal.base.errors import PolymodalError
from polymodal.nn.flows import couplings, gaussian, splines
from toys import carry_out

KINDS = [couplings, splines, gaussian]
CONTEXT = torch.randn(3, 4, dtype=torch.double, generator=torch.manual_seed(0))


def stirred(kind, latent=5, context=4, scale=0.2, **options):
    """A density away from its start, in float64."""
    torch.manual_seed(0)
    flow = kind(latent=latent, context=context, hidden=8, **options).double()
    with torch.no_grad():
        for p in flow.parameters():
            p.add_(scale * torch.randn_like(p))
    return flow


def points(*shape):
    return 2 * torch.randn(*shape, dtype=torch.double, generator=torch.manual_seed(1))


def normal(z):
    return torch.distributions.Normal(0.0, 1.0).log_prob(z).sum(-1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("context", [CONTEXT, None])
def test_inverse_and_determinant_are_those_of_autograd(kind, context):
    given = stirred(kind, context=0 if context is None else 4)(context)
    z = points(3, 5)
    noise, volume = given.pull(z)
    back, other = given.push(noise)
    torch.testing.assert_close(back, z, rtol=0, atol=1e-9)
    torch.testing.assert_close(other, -volume, rtol=0, atol=1e-9)
    whole = jacobian(lambda z: given.pull(z)[0], z)  # b z b z
    for row in range(3):
        expected = torch.linalg.slogdet(whole[row, :, row])
        assert expected.sign == 1
        assert volume[row].item() == pytest.approx(expected.logabsdet.item(), abs=1e-9)
    assert volume.abs().max() > 0.1
    torch.testing.assert_close(given.log_prob(z), normal(noise) + volume)


@pytest.mark.parametrize("latent", [4, 5])
def test_a_coupling_is_equations_7_and_8(latent):
    flow = stirred(couplings, latent=latent, transforms=1)
    one, two = flow.conditioners
    hints = flow.hints(CONTEXT).chunk(2, -1)
    noise = points(3, latent)
    first, second = noise[:, :2], noise[:, 2:]

    def moved(transform, x):  # by its σ and μ, as it moves 0 and 1
        shift = transform(torch.zeros_like(x))
        return x * (transform(torch.ones_like(x)) - shift) + shift

    first = moved(one(second, hints[0]), first)
    second = moved(two(first, hints[1]), second)
    found, _ = flow(CONTEXT).push(noise)
    torch.testing.assert_close(found, torch.cat([first, second], 1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", [couplings, splines])
def test_six_couplings_move_both_halves(kind):
    flow = kind(latent=50, context=200)
    assert len(flow.conditioners) == 12
    flow = stirred(kind, latent=4, transforms=1)
    noise = points(3, 4)
    assert (flow(CONTEXT).push(noise)[0] - noise).abs().min() > 1e-3


def grid(side=8.0, steps=401):
    """Points of a square, and the area each stands for."""
    line = torch.linspace(-side, side, steps, dtype=torch.double)
    return torch.cartesian_prod(line, line), (2 * side / (steps - 1)) ** 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_density_of_two_dimensions_integrates_to_one_and_its_samples_follow_it(kind):
    options = {} if kind is gaussian else {"transforms": 2}
    flow = stirred(kind, latent=2, **options)
    where, area = grid()
    torch.manual_seed(2)
    for row in range(2):
        given = flow(CONTEXT[row : row + 1])
        with torch.no_grad():
            mass = given.log_prob(where[:, None])[:, 0].exp() * area
            drawn = given.rsample((20_000,))[:, 0]
        assert mass.sum().item() == pytest.approx(1, abs=2e-3)
        mean = mass @ where
        spread = (mass[:, None] * (where - mean)).T @ (where - mean)
        assert (mean.abs().max() > 0.1) or (spread - torch.eye(2)).abs().max() > 0.1
        error = 5 * spread.diagonal().sqrt() / math.sqrt(len(drawn))
        assert ((drawn.mean(0) - mean).abs() < error).all()
        torch.testing.assert_close(drawn.T.cov(), spread, rtol=0.1, atol=0.05)
        for quarter in (where > mean).unique(dim=0):  # a histogram of four bins
            share = mass[((where > mean) == quarter).all(1)].sum().item()
            found = ((drawn > mean) == quarter).all(1).double().mean().item()
            assert found == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_knows_its_own_density(kind):
    given = stirred(kind)(CONTEXT)
    z, density = given.rsample_and_log_prob((6, 2))
    assert z.shape == (6, 2, 3, 5)
    assert density.shape == (6, 2, 3)
    torch.testing.assert_close(density, given.log_prob(z), rtol=0, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_each_context_has_its_own_density(kind):
    flow, z = stirred(kind), points(3, 5)
    whole = flow(CONTEXT).log_prob(z)
    for row in range(3):
        alone = flow(CONTEXT[row : row + 1]).log_prob(z[row : row + 1])
        torch.testing.assert_close(alone[0], whole[row], rtol=0, atol=1e-10)
    assert (whole - flow(CONTEXT.flip(0)).log_prob(z))[[0, 2]].abs().min() > 1e-3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("context", [CONTEXT.float(), None])
def test_it_begins_as_a_standard_normal(kind, context):
    flow = kind(latent=5, context=0 if context is None else 4, hidden=8)
    given = flow(context)
    z = points(3, 5).float()
    torch.testing.assert_close(given.log_prob(z), normal(z), rtol=1e-4, atol=1e-4)
    torch.manual_seed(0)
    found = given.rsample((2,))
    torch.manual_seed(0)
    noise = torch.randn(found.shape)
    assert found.shape == ((2, 5) if context is None else (2, 3, 5))
    torch.testing.assert_close(found, noise, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_samples_pass_gradients_on(kind):
    flow = stirred(kind)
    z, density = flow(CONTEXT).rsample_and_log_prob((4,))
    (density.mean() + z.square().mean()).backward()
    assert all(p.grad.isfinite().all() and p.grad.abs().sum() > 0 for p in flow.parameters())


def test_scales_of_couplings_are_bounded():
    flow = couplings(latent=4, hidden=8, transforms=1)
    last = flow.conditioners[0].tell[-1]
    nn.init.constant_(last.bias, 1e6)
    _, volume = flow().push(torch.randn(3, 4))
    assert volume.max() <= 2 * math.log(10) + 1e-4  # two elements are moved, each 10 × at most
    nn.init.constant_(last.bias, -1e6)
    _, volume = flow().push(torch.randn(3, 4))
    assert volume.min() >= -2 * math.log(10) - 1e-4


COMPILED = """
import torch
from polymodal.nn.flows import couplings, gaussian, splines

context, z = torch.randn(3, 4), torch.randn(3, 5)
for make, options in ((couplings, {"transforms": 1}), (splines, {"transforms": 1}), (gaussian, {})):
    flow = make(latent=5, context=4, hidden=8, **options)
    for p in flow.parameters():
        p.data += 0.1 * torch.randn_like(p)
    density = torch.compile(lambda c, z: flow(c).log_prob(z), backend="eager", fullgraph=True)
    torch.testing.assert_close(density(context, z), flow(context).log_prob(z))
    draw = torch.compile(
        lambda c: flow(c).rsample_and_log_prob((2,)), backend="eager", fullgraph=True
    )
    drawn, found = draw(context)
    torch.testing.assert_close(found, flow(context).log_prob(drawn), rtol=1e-3, atol=1e-3)
    found.sum().backward()
"""


@pytest.mark.slow
def test_densities_and_samples_compile_whole():
    """In a process of its own, as the checks of shapes at run time cannot be compiled."""
    carry_out(COMPILED)


class Products(TorchDispatchMode):
    """Counts the products of matrices."""

    def __init__(self):
        super().__init__()
        self.count = Counter()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count[function.overloadpacket.__name__] += 1
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    "ask", [lambda d: d.log_prob(points(3, 5)), lambda d: d.rsample_and_log_prob()]
)
def test_a_step_is_three_products_a_half_and_one_for_the_context(ask):
    flow = stirred(couplings)
    with Products() as products:
        ask(flow(CONTEXT))
    assert products.count["addmm"] == 3 * 12
    assert products.count["mm"] == 1


def learned(flow, steps=150):
    """Learn two bent bands, one a context, and give the nats of a point."""
    torch.manual_seed(0)
    optimizer = torch.optim.Adam(flow.parameters(), 1e-2)
    for _ in range(steps):
        sign = torch.randint(0, 2, (256, 1)) * 2.0 - 1
        x = torch.randn(256, 1)
        z = torch.cat([x, sign * (x.square() - 1) + 0.1 * torch.randn(256, 1)], 1)
        loss = -flow(sign).log_prob(z).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def test_flows_learn_what_a_gaussian_cannot():
    options = {"latent": 2, "context": 1, "hidden": 32}
    torch.manual_seed(0)
    plain = learned(gaussian(**options))
    assert plain > 2.5
    assert learned(couplings(**options, transforms=2)) < plain - 1.5
    assert learned(splines(**options, transforms=2)) < plain - 1.0


@pytest.mark.parametrize("kind", [couplings, splines])
def test_one_dimension_has_no_halves(kind):
    with pytest.raises(PolymodalError, match="2 dimensions or more; found 1"):
        kind(latent=1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_context_is_given_where_one_is_expected(kind):
    with pytest.raises(PolymodalError, match="is conditional: give it a context"):
        kind(latent=2, context=4, hidden=8)()
    with pytest.raises(PolymodalError, match="not conditional: it takes no context"):
        kind(latent=2, hidden=8)(CONTEXT)
