"""VLVAE: a VAE of images and text, for text to image and image to text (004).

Stage one trains the joint model (eq. 1–2). Stage two freezes it and learns three densities in
the same steps: q_agg(z|y), the aggregate posterior of the images of a text (eq. 4–5);
q_true(z|y), the posterior of the text, as in TELBO (eq. 3); and the aggregate prior q(z) (§4.2).
JMVAE learns q_agg(z|y) in stage one instead: --joint 1.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from polymodal.base.config import renamed
from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import OneOrMore, Positive, Share, ZeroOrMore, check_ranges
from polymodal.data.fixed_words import Words
from polymodal.data.image_texts import words_of
from polymodal.data.records import Dataset
from polymodal.maths import likelihoods
from polymodal.nn import flows
from polymodal.nn.dense import SharedDecoder, SharedEncoder
from polymodal.nn.renorm import Norm
from polymodal.nn.residual import ImageDecoder, ImageEncoder
from polymodal.nn.text_coders import TextDecoder, TextEncoder, TransformerDecoder
from polymodal.systems.vlvae.densities import Densities, TextPosterior
from polymodal.systems.vlvae.joint_model import JointModel
from polymodal.systems.vlvae.vlvae_module import VLVAE

__all__ = ["Config", "build", "learn"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """An image–text VAE and the densities of its latent variable."""

    infer_from: Literal["image", "text", "both"] = "image"
    """Input of the encoder q(z|·): the image alone, so that z has no information of the text's own
    (004, §2), the text alone, or both (§6)."""
    latent: OneOrMore[int] = 50
    """Dimension of z."""
    code: OneOrMore[int] = 200
    """Dimension of the encoders' outputs and of the GRU states."""
    decoder_dim: OneOrMore[int | None] = field(default=None, metadata=renamed("decoded"))
    """Width of the shared decoder and of its output; by default that of --code, as in the paper,
    which is small for two objects at any position (docs/vlvae.md)."""
    width: OneOrMore[int] = 32
    """Channels of the image networks at half the image size."""
    downsampling: int = field(default=4, metadata=renamed("shrink"))
    """Downsampling before their residual blocks: 4, as in CycleGAN, or 8."""
    final_maps: OneOrMore[int] = field(default=10, metadata=renamed("ends"))
    """Number of feature maps that the image encoder flattens."""
    norm: Norm = "batch"
    """Normalisation of the shared networks: batch uses batch statistics (the paper), renorm running
    statistics, as in evaluation (Ioffe, 2017)."""
    text_decoder: Literal["gru", "transformer"] = "gru"
    """Text decoder: a GRU (the paper) or a transformer."""
    dropout: Share[float] = 0.1
    """Dropout of the text decoder."""
    likelihood: Literal["beta", "gaussian", "laplace", "logistic"] = "beta"
    """Image likelihood p(x|z): the paper's constrained Beta, or another."""
    image_weight: ZeroOrMore[float] = 0.003
    """Weight of log p(x|z) in stage one (004, §5.3.1)."""
    text_weight: ZeroOrMore[float] = 10.0
    """Weight of log p(y|z) in stage one."""
    warmup: Share[float] = 0.05
    """Fraction of stage one over which the KL weight rises to 1 (§5.3: 20k of 400k steps)."""
    warm_from: Share[float] = 0.0
    """Initial KL weight: from 0 it rises linearly; from above 0 by a constant factor per step, so
    it stays low for longer."""
    free_bits: ZeroOrMore[float] = 0.0
    """Nats of KL per dimension without penalty (Kingma et al., 2016)."""
    samples: OneOrMore[int] = 1
    """Samples of z per image in stage one; more than 1 gives the importance-weighted bound."""
    joint: ZeroOrMore[float] = 0.0
    """Weight of KL(q(z|x) ‖ q_agg(z|y)) in stage one, where all parameters are trained (JMVAE)."""
    shuffle: bool = False
    """Shuffle the words of a text each time; for texts whose order has no meaning (CelebA)."""
    densities: tuple[Literal["aggregate", "true", "prior"], ...] = ("aggregate", "true", "prior")
    """Densities that stage two learns: q_agg(z|y), q_true(z|y) and q(z)."""
    flow: Literal["couplings", "splines", "gaussian"] = "couplings"
    """Their form: affine couplings (the paper), neural splines, or a Gaussian."""
    transforms: OneOrMore[int] = 6
    """Number of couplings per flow."""
    flow_hidden: OneOrMore[int] = 512
    """Width of the flows' networks."""
    flow_share: Share[float] = 0.25
    """Fraction of all steps for stage two; 1 with --init, for a model that is already trained."""
    flow_lr: Positive[float] = 1e-3
    """Learning rate of Adam in stage two."""
    flow_samples: OneOrMore[int] = field(default=8, metadata=renamed("draws"))
    """Samples of z and of a text per image in each step of stage two."""
    lr: Positive[float] = 4e-4
    """Learning rate of Adam in stage one."""
    decay: bool = True
    """Cosine decay of the learning rate to a twentieth in each stage; the paper's is constant."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "densities", tuple(self.densities))
        check_ranges(self)
        if bool(self.densities) != bool(self.flow_share):
            raise PolymodalError(
                "Stage two needs both --densities and a --flow-share above 0, or neither; found "
                f"{', '.join(self.densities) or 'none'} and {self.flow_share:g}. All of them: --densities "
                "aggregate true prior."
            )
        if self.joint and "aggregate" not in self.densities:
            raise PolymodalError(
                "--joint learns q_agg(z|y) in stage one: keep 'aggregate' among --densities."
            )
        if self.joint and self.flow_share == 1:
            raise PolymodalError(
                "--joint is a loss of stage one, but --flow-share 1 has no stage one. Give a smaller "
                "share, or leave out --joint."
            )
        if self.samples > 1 and self.free_bits:
            raise PolymodalError(
                "The importance-weighted bound has no separate KL term for --free-bits. Give "
                "--samples 1, or --free-bits 0."
            )


def learn(config: Config, train: Dataset) -> dict[str, Any]:
    """The vocabulary of the training split and the image size."""
    if not len(train):
        raise PolymodalError("The training split is empty: there is nothing to learn from.")
    return {"size": train.images([0]).shape[1], "words": words_of(train).as_json()}


def build(config: Config, learned: dict[str, Any]) -> VLVAE:
    """The model and its densities, given what `learn` found."""
    words = Words.from_json(learned["words"])
    return VLVAE(
        config=config,
        words=words,
        size=learned["size"],
        model=joint_model(config, words, learned["size"]),
        densities=learned_densities(config, len(words)),
    )


def joint_model(config: Config, words: Words, size: int) -> JointModel:
    """p(x, y, z) and q(z|·) (004, §5.1)."""
    code, likelihood = config.code, likelihoods.likelihood_named(config.likelihood)
    decoded = config.decoder_dim or code
    sees = 2 if config.infer_from == "both" else 1
    maps: dict[str, int] = {"size": size, "width": config.width, "shrink": config.downsampling}
    return JointModel(
        image_encoder=None
        if config.infer_from == "text"
        else ImageEncoder(ends=config.final_maps, code=code, **maps),
        text_encoder=None
        if config.infer_from == "image"
        else TextEncoder(words=len(words), code=code),
        shared_encoder=SharedEncoder(
            inputs=sees * code, latent=config.latent, hidden=code, norm=config.norm
        ),
        shared_decoder=SharedDecoder(
            latent=config.latent, code=decoded, hidden=decoded, norm=config.norm
        ),
        image_decoder=ImageDecoder(parameters=likelihood.parameters, code=decoded, **maps),
        text_decoder=text_decoder(config, len(words), decoded),
        likelihood=likelihood,
    )


def text_decoder(config: Config, words: int, code: int) -> TextDecoder | TransformerDecoder:
    """The text decoder, conditioned on a code of this width."""
    if config.text_decoder == "transformer":
        return TransformerDecoder(words=words, code=code, dropout=config.dropout)
    return TextDecoder(words=words, code=code, state=config.code, dropout=config.dropout)


def learned_densities(config: Config, words: int) -> Densities:
    """The flows of stage two, each text posterior with a text encoder of its own (004, §5.1.1)."""
    how: dict[str, Any] = {"latent": config.latent, "hidden": config.flow_hidden}
    if config.flow != "gaussian":
        how["transforms"] = config.transforms
    flow = getattr(flows, config.flow)

    def posterior() -> TextPosterior:
        encoder = TextEncoder(words=words, code=config.code)
        return TextPosterior(encoder=encoder, flow=flow(context=config.code, **how))

    asked = config.densities
    return Densities(
        aggregate=posterior() if "aggregate" in asked else None,
        true=posterior() if "true" in asked else None,
        prior=flow(**how) if "prior" in asked else None,
    )
