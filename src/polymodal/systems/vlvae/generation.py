"""Generation with a trained VLVAE: images from text, captions, and unconditional samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from polymodal.base.errors import PolymodalError, unknown
from polymodal.data.image_texts import shuffled
from polymodal.data.records import Images
from polymodal.data.user_images import as_pictures
from polymodal.systems.vlvae.seeded import seeded

if TYPE_CHECKING:
    from polymodal.data.fixed_words import Words
    from polymodal.systems.vlvae.densities import Densities
    from polymodal.systems.vlvae.joint_model import JointModel

PRIORS = ("aggregate", "normal")
POSTERIORS = {"aggregate": "q_agg(z|y)", "true": "q_true(z|y)"}

BLOCK = 256
"""Number of images that are decoded at once."""


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """Images and texts that were sampled together."""

    images: Images
    texts: list[str]


@dataclass(frozen=True, kw_only=True)
class Described:
    """The words for an image, and the probability of each given those before it."""

    words: tuple[str, ...]
    probabilities: tuple[float, ...]


class Generation:
    """What a trained VLVAE can generate."""

    if TYPE_CHECKING:
        config: Any
        words: Words
        size: int
        model: JointModel
        densities: Densities
        device: torch.device

        def eval(self) -> Any: ...

    def one_text(self, texts: Int[Tensor, "b k t"]) -> Int[Tensor, "b t"]:
        """One of the texts of each image, chosen at random, and shuffled if the order of words has
        no meaning."""
        place = torch.randint(texts.shape[1], (len(texts),), device=texts.device)
        chosen = texts[torch.arange(len(texts), device=texts.device), place]
        return shuffled(chosen) if self.config.shuffle else chosen

    @torch.no_grad()
    def generate(
        self,
        text: str,
        count: int = 1,
        *,
        by: str = "aggregate",
        seed: int = 0,
    ) -> Images:
        """Images of a text, as uint8 `count h w 3`: z from q_agg(z|y), or with by='true' from
        q_true."""
        if not isinstance(text, str):
            raise PolymodalError("generate takes one text. Call it once for each.")
        texts = self.words.encode([text]).expand(at_least_one(count), -1)
        self.words.check(text)
        self.eval()
        with seeded(seed, self.device):
            return pictures(self.imagined(self.latents(texts.to(self.device), by)))

    @torch.no_grad()
    def sample(self, count: int = 1, *, prior: str | None = None, seed: int = 0) -> Sampled:
        """Images and texts sampled together: z from the 'aggregate' prior if there is one, or from
        the 'normal' N(0, I)."""
        self.eval()
        with seeded(seed, self.device):
            z = self.prior_latents(at_least_one(count), prior)
            texts, _ = self.said(z, generator=torch.Generator(self.device).manual_seed(seed))
            return Sampled(images=pictures(self.imagined(z)), texts=self.words.decode(texts))

    def caption(self, images: Sequence[Any] | Images) -> list[str]:
        """The most likely words for images: paths, PIL images, arrays `h w 3` of uint8, or a mix."""
        return [" ".join(one.words) for one in self.describe(images)]

    @torch.no_grad()
    def describe(self, images: Sequence[Any] | Images) -> list[Described]:
        """The most likely words for images, without blanks, and the probability of each."""
        if isinstance(images, str) or not isinstance(images, Sequence | np.ndarray):
            raise PolymodalError("caption takes a list of pictures, such as ['image.png'].")
        if self.model.image_encoder is None or self.model.text_encoder is not None:
            raise PolymodalError(
                f"This model infers from {self.config.infer_from}, so it cannot caption an "
                "image alone. Train one with --infer-from image."
            )
        self.eval()
        descriptions: list[Described] = []
        for start in range(0, len(images), BLOCK):
            part = torch.from_numpy(as_pictures(list(images[start : start + BLOCK]), self.size))
            posterior = self.model.posterior(part.permute(0, 3, 1, 2).to(self.device), None)
            texts, chances = self.said(posterior.mean)
            word_chances = chances.gather(-1, texts[..., None])[..., 0]
            descriptions += map(self.described, texts, word_chances)
        return descriptions

    def described(self, text: Int[Tensor, " t"], chances: Float[Tensor, " t"]) -> Described:
        """A text without its blanks."""
        words = text != 0
        return Described(
            words=tuple(self.words.words[word] for word in text[words].tolist()),
            probabilities=tuple(chances[words].tolist()),
        )

    def latents(self, texts: Int[Tensor, "b t"], by: str) -> Float[Tensor, "b z"]:
        """A sample of z for each text."""
        known = {"aggregate": self.densities.aggregate, "true": self.densities.true}
        if by not in known:
            raise unknown("posterior of a text", by, known)
        posterior = known[by]
        if posterior is None:
            raise PolymodalError(
                f"This model has no {POSTERIORS[by]}. Draw {self.other_ways(by)}, or train one with "
                f"{by!r} among --densities and a --flow-share above 0."
            )
        return posterior.given(texts).rsample()

    def other_ways(self, by: str) -> str:
        """What a model without this text posterior can do instead."""
        if by == "true" and self.densities.aggregate is not None:
            return f"by {POSTERIORS['aggregate']}, its default"
        if by == "aggregate" and self.densities.true is not None:
            return f"by {POSTERIORS['true']} (--by true)"
        return "from a prior, without a text"

    def prior_latents(self, count: int, prior: str | None) -> Float[Tensor, "b z"]:
        """Samples of z from the learned prior if there is one, or N(0, I)."""
        flow = self.densities.prior
        if prior not in (None, *PRIORS):
            raise unknown("prior", prior, PRIORS)
        if prior == "aggregate" and flow is None:
            raise PolymodalError(
                "This model did not learn the aggregate prior. Ask for the prior 'normal' "
                "(--prior normal), or train it with 'prior' among --densities."
            )
        if flow is None or prior == "normal":
            return torch.randn(count, self.config.latent, device=self.device)
        return flow().rsample((count,))

    def imagined(self, z: Float[Tensor, "b z"]) -> Float[Tensor, "b 3 h w"]:
        """The expected image for each z, with values between 0 and 1."""
        return torch.cat([self.model.picture.mean(self.model.code(p)) for p in z.split(BLOCK)])

    def said(
        self, z: Float[Tensor, "b z"], generator: torch.Generator | None = None
    ) -> tuple[Int[Tensor, "b t"], Float[Tensor, "b t v"]]:
        """Words for each z, the most likely or sampled, and their distributions."""
        return self.model.text_decoder.decode(self.model.code(z), self.words.length, generator)


def pictures(values: Float[Tensor, "b 3 h w"]) -> Images:
    """Images with values in [0, 1] as bytes."""
    bytes_ = (values * 256).clamp(0, 255).byte()
    return bytes_.permute(0, 2, 3, 1).contiguous().cpu().numpy()


def at_least_one(count: int) -> int:
    """The count, if it is 1 or more."""
    if count < 1:
        raise PolymodalError(f"count must be 1 or more, not {count}.")
    return count
