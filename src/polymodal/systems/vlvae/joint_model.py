"""The joint model of an image x, a text y and their latent variable z (004, Fig. 2 and §5.1)."""

from typing import Any

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn

from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.maths.likelihoods import Likelihood, unit
from polymodal.nn.dense import SharedDecoder, SharedEncoder
from polymodal.nn.residual import ImageDecoder, ImageEncoder
from polymodal.nn.text_coders import TextDecoder, TextEncoder, TransformerDecoder


class Picture(nn.Module):
    """log p(x|z) from the output of the shared decoder: image decoder and likelihood in one."""

    def __init__(self, decoder: ImageDecoder, likelihood: Likelihood) -> None:
        super().__init__()
        self.decoder, self.likelihood = decoder, likelihood

    def forward(
        self, code: Float[Tensor, "b d"], images: UInt8[Tensor, "b 3 h w"]
    ) -> Float[Tensor, " b"]:
        return self.likelihood.log_prob(self.decoder(code), images)

    def mean(self, code: Float[Tensor, "b d"]) -> Float[Tensor, "b 3 h w"]:
        """The expected image, with values between 0 and 1."""
        return self.likelihood.mean(self.decoder(code))


class JointModel(nn.Module):
    """p(z) p(x|z) p(y|z) with p(z) = N(0, I), and q(z|·).

    Under autocast only the image networks use lower precision: the others are small and have
    long sums.
    """

    def __init__(
        self,
        *,
        image_encoder: ImageEncoder | None,
        text_encoder: TextEncoder | None,
        shared_encoder: SharedEncoder,
        shared_decoder: SharedDecoder,
        image_decoder: ImageDecoder,
        text_decoder: TextDecoder | TransformerDecoder,
        likelihood: Likelihood,
    ) -> None:
        super().__init__()
        self.image_encoder, self.text_encoder = image_encoder, text_encoder
        self.shared_encoder, self.shared_decoder = shared_encoder, shared_decoder
        self.picture, self.text_decoder = Picture(image_decoder, likelihood), text_decoder
        for network in (image_encoder, image_decoder):
            if network is not None:
                network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def posterior(
        self, images: UInt8[Tensor, "b 3 h w"] | None, texts: Int[Tensor, "b t"] | None
    ) -> DiagonalGaussian:
        """q(z|x), q(z|y) or q(z|x, y), depending on the encoders."""
        seen = []
        if self.image_encoder is not None and images is not None:
            seen.append(self.image_encoder(unit(images)))
        if self.text_encoder is not None and texts is not None:
            seen.append(in_float32(self.text_encoder, texts))
        gaussian: DiagonalGaussian = in_float32(
            self.shared_encoder, torch.cat([s.float() for s in seen], -1)
        )
        return gaussian

    def code(self, z: Float[Tensor, "b z"]) -> Float[Tensor, "b d"]:
        """The output of the shared decoder, the input of the image and text decoders."""
        code: Tensor = in_float32(self.shared_decoder, z)
        return code

    def log_px(
        self, code: Float[Tensor, "b d"], images: UInt8[Tensor, "b 3 h w"]
    ) -> Float[Tensor, " b"]:
        """log p(x|z) in nats."""
        log_px: Tensor = self.picture(code, images)
        return log_px

    def log_py(self, code: Float[Tensor, "b d"], texts: Int[Tensor, "b t"]) -> Float[Tensor, " b"]:
        """log p(y|z) in nats: a categorical per word, given the words before it."""
        logits: Tensor = in_float32(self.text_decoder, code, texts)
        return logits.log_softmax(-1).gather(-1, texts[..., None]).sum((1, 2))


def in_float32(module: nn.Module, *inputs: Tensor) -> Any:
    """The output of a module without autocast."""
    with torch.autocast(inputs[0].device.type, enabled=False):
        return module(*inputs)
