"""Densities of z that stage two learns with the model frozen: q_agg(z|y), q_true(z|y), q(z) (004,
§3, §4.2)."""

from collections.abc import Sequence

from jaxtyping import Float, Int
from torch import Tensor, nn

from polymodal.nn.flows import Couplings, Gaussian, Pushed, standard
from polymodal.nn.text_coders import TextEncoder
from polymodal.systems.vlvae.joint_model import JointModel

Flow = Couplings | Gaussian


class TextPosterior(nn.Module):
    """q(z|y): a flow conditioned on the text, with its own text encoder (004, §5.1.1)."""

    def __init__(self, *, encoder: TextEncoder, flow: Flow) -> None:
        super().__init__()
        self.encoder, self.flow = encoder, flow

    def given(self, texts: Int[Tensor, "b t"]) -> Pushed:
        """The distribution of z for each text."""
        posterior: Pushed = self.flow(self.encoder(texts))
        return posterior

    def forward(self, texts: Int[Tensor, "b t"], z: Float[Tensor, "b z"]) -> Float[Tensor, " b"]:
        """log q(z|y)."""
        return self.given(texts).log_prob(z)


class Densities(nn.Module):
    """The densities that are learned; φ in the paper."""

    def __init__(
        self, *, aggregate: TextPosterior | None, true: TextPosterior | None, prior: Flow | None
    ) -> None:
        super().__init__()
        self.aggregate, self.true, self.prior = aggregate, true, prior

    def flows(self) -> list[Flow]:
        """The flow of each density."""
        flows = [
            posterior.flow for posterior in (self.aggregate, self.true) if posterior is not None
        ]
        return flows if self.prior is None else [*flows, self.prior]

    def losses(
        self, model: JointModel, texts: Int[Tensor, "b t"], z: Float[Tensor, "b z"]
    ) -> dict[str, Float[Tensor, ""]]:
        """The loss of each density, in nats, for z sampled from q(z|x) of images of these texts."""
        losses: dict[str, Tensor] = {}
        if self.aggregate is not None:
            losses["aggregate"] = -self.aggregate(texts, z).mean()
        if self.true is not None:
            losses["true"] = -text_bound(model, self.true, texts).mean()
        if self.prior is not None:
            losses["prior"] = -self.prior().log_prob(z).mean()
        return losses


def text_bound(
    model: JointModel, posterior: TextPosterior, texts: Int[Tensor, "b t"]
) -> Float[Tensor, " b"]:
    """log p(y|z) + log p(z) − log q(z|y) for one sample of q(z|y): in expectation at most log p(y)
    (eq. 3)."""
    return text_bounds(model, posterior, texts, [None])[0]


def text_bounds(
    model: JointModel,
    posterior: TextPosterior,
    texts: Int[Tensor, "b t"],
    priors: Sequence[Flow | None],
) -> list[Float[Tensor, " b"]]:
    """The same under several priors, for the same sample: N(0, I), or an aggregate prior (§4.2)."""
    z, log_q = posterior.given(texts).rsample_and_log_prob()
    said = model.log_py(model.code(z), texts) - log_q
    return [said + log_prior(z, prior) for prior in priors]


def log_prior(z: Float[Tensor, "*s z"], prior: Flow | None = None) -> Float[Tensor, "*s"]:
    """log p(z) under N(0, I), or under the aggregate prior."""
    if prior is None:
        return standard(z)
    return prior().log_prob(z)
