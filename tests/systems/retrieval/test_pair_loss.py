"""The loss of a system: its scale and bias, what is learned of them, and what a stuck one is told."""

import math

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.maths.contrastive import pairwise_sigmoid, symmetric_infonce
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.ranking import hinge
from polymodal.systems.retrieval import Settings
from polymodal.systems.retrieval.pair_loss import PairLoss, excess

OWNER = torch.tensor([0, 1, 1, 2, 3, 4])
SCORES = torch.randn(6, 6, dtype=torch.double, generator=torch.manual_seed(0))


def test_the_hinge_is_the_hinge_to_the_bit():
    loss = PairLoss(Settings())
    assert torch.equal(loss(SCORES, OWNER), hinge(SCORES, 0.2, "hardest", OWNER))
    assert torch.equal(loss(SCORES, OWNER, warm=True), hinge(SCORES, 0.2, "sum", OWNER))
    assert not list(loss.parameters())


@pytest.mark.parametrize("learn_scale", [False, True])
def test_scores_are_scaled_and_shifted(learn_scale):
    given = {"scale": 3.0, "learn_scale": learn_scale}
    expected = {
        "hinge": hinge(3 * SCORES, 0.2, "hardest", OWNER),
        "infonce": symmetric_infonce(3 * SCORES, OWNER),
        "sigmoid": pairwise_sigmoid(3 * SCORES - 2, OWNER, 0.1),
    }
    for name, value in expected.items():
        more = {"bias": -2.0, "pseudo_positives": 0.1} if name == "sigmoid" else {}
        loss = PairLoss(Settings(loss=name, **given, **more))
        torch.testing.assert_close(loss(SCORES, OWNER), value, rtol=1e-6, atol=0)
        learned = {"log_scale"} if learn_scale else set()
        learned |= {"bias"} if name == "sigmoid" else set()
        assert set(loss.state_dict()) == learned


@pytest.mark.parametrize("name", ["hinge", "infonce", "sigmoid"])
def test_scale_and_bias_have_the_gradient_of_a_difference(name):
    loss = PairLoss(Settings(loss=name, scale=2.0, learn_scale=True)).double()
    loss(SCORES, OWNER).backward()
    for parameter in loss.parameters():
        values = []
        for step in (1e-6, -1e-6):
            with torch.no_grad():
                parameter.add_(step)
                values.append(loss(SCORES, OWNER).item())
                parameter.sub_(step)
        assert parameter.grad.item() == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-5)
        assert parameter.grad.abs() > 1e-3


def test_a_learned_scale_is_capped_and_can_come_back():
    loss = PairLoss(Settings(loss="infonce", scale=99.0, learn_scale=True)).double()
    with torch.no_grad():
        loss.log_scale.fill_(9.0)
    found = loss(SCORES, OWNER)
    torch.testing.assert_close(found, symmetric_infonce(100 * SCORES, OWNER))
    found.backward()
    assert loss.log_scale.item() == pytest.approx(math.log(100))
    assert loss.log_scale.grad.abs() > 1  # at the cap it still learns


@pytest.mark.parametrize("b", [4, 64])
@pytest.mark.parametrize("weight", [0.0, 0.5])
def test_where_guessing_has_the_loss(b, weight):
    """The least loss over all biases of scores that hardly differ, by search."""
    owner = torch.arange(b)
    noise = 1e-9 * torch.randn(b, b, dtype=torch.double, generator=torch.manual_seed(0))
    loss = PairLoss(Settings(loss="sigmoid", pseudo_positives=weight)).double()
    loss(noise, owner)
    biases = torch.linspace(-6, 3, 901, dtype=torch.double)
    costs = [pairwise_sigmoid(noise + x, owner, weight).item() / b for x in biases]
    assert float(loss.alike) == pytest.approx(min(costs), rel=1e-4)
    if not weight:
        assert min(costs) == pytest.approx(math.log(b) + (b - 1) * math.log(b / (b - 1)), rel=1e-4)


def test_a_stuck_infonce_is_named():
    loss = PairLoss(Settings(loss="infonce", scale=14.0))
    owner = torch.arange(8)
    shown = loss(torch.full((8, 8), 0.3), owner).item() / 8
    assert shown == pytest.approx(math.log(8))
    assert "is at chance level (2.08 per pair at this batch size)" in loss.symptom(shown)
    assert "Try a larger --scale" in loss.symptom(shown)
    assert loss.symptom(0.9 * shown) is None
    assert loss.symptom(0.4) is None  # which is the hinge's


def test_guessing_is_less_costly_where_captions_share_images():
    loss = PairLoss(Settings(loss="infonce"))
    shown = loss(torch.zeros(6, 6), OWNER).item() / 6
    assert shown < math.log(6)
    assert loss.symptom(shown)


def test_a_stuck_sigmoid_is_named():
    loss = PairLoss(Settings(loss="sigmoid", bias=-math.log(7)))
    shown = loss(torch.zeros(8, 8), torch.arange(8)).item() / 8
    assert "does not distinguish the pairs" in loss.symptom(shown)
    assert loss.symptom(1.1 * shown) is None


def test_excess_is_the_divergence_a_dimension():
    side = DiagonalGaussian(torch.randn(5, 3), torch.randn(5, 3))
    own = torch.distributions.Normal(side.mean, side.std)
    standard = torch.distributions.Normal(torch.zeros(3), torch.ones(3))
    expected = torch.distributions.kl_divergence(own, standard).sum() / 3
    torch.testing.assert_close(excess(side), expected)
    assert excess(side.mean).item() == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scale": 101.0, "learn_scale": True}, "starts at 100 at most, not 101"),
        ({"bias": -10.0}, "bias is a setting of the sigmoid loss, but the loss is hinge"),
        ({"loss": "infonce", "pseudo_positives": 0.1}, "pseudo_positives is a setting of the sigm"),
        ({"loss": "infonce", "warmup": 9}, "warmup is a setting of the hinge .* choose --loss hinge"),
        ({"loss": "sigmoid", "negatives": "sum"}, "negatives is a setting of the hinge loss"),
    ],
)  # fmt: skip
def test_settings_that_do_not_go_together(settings, message):
    with pytest.raises(PolymodalError, match=message):
        Settings(**settings)
