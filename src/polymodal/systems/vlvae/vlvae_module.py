"""The VLVAE in training, evaluation and use."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from jaxtyping import Float, Int, Shaped, UInt8
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.fixed_words import Words
from polymodal.data.image_texts import ImageTextBatch, ImageTexts, check_pictures, check_texts
from polymodal.data.records import Dataset
from polymodal.maths.diagonal_gaussian import DiagonalGaussian
from polymodal.nn.learning_rates import half_cosine
from polymodal.systems.vlvae.densities import Densities, log_prior
from polymodal.systems.vlvae.generation import Generation
from polymodal.systems.vlvae.joint_model import JointModel, in_float32
from polymodal.systems.vlvae.vlvae_scores import kl_parts, scores_of
from polymodal.training.recording import Aside, Outputs, Recordable

QUICK = 1000
"""Number of images scored at a validation during training."""

SELECTING = {"aggregate": "log_q", "true": "log_py_true", "prior": "log_px_aggregate"}
"""The score that selects the weights: that of the first of these densities that is learned."""

PARTS = 2000
"""Number of posteriors in the estimate of the aggregate for the two parts of the KL term."""


class VLVAE(Generation, Recordable):
    """The joint model and the densities of its latent variable."""

    can = frozenset({"generate", "caption"})
    strategy = "ddp_find_unused_parameters_true"  # each stage trains half of the parameters

    kl_weight: Tensor

    def __init__(
        self, *, config: Any, words: Words, size: int, model: JointModel, densities: Densities
    ) -> None:
        super().__init__()
        self.config, self.words, self.size = config, words, size
        self.model, self.densities = model, densities
        self.frozen = self.begun = False
        self.register_buffer("kl_weight", torch.ones(()), persistent=False)
        learned = (score for name, score in SELECTING.items() if name in config.densities)
        self.monitor = next(learned, "bound")

    # Training

    def begin_from(self, weights: dict[str, Tensor], learned: dict[str, Any]) -> None:
        """Load the joint model of another run, and those densities that it has."""
        parameters = self.state_dict()
        known = {
            k: v for k, v in weights.items() if k in parameters and parameters[k].shape == v.shape
        }
        lost = {k for k in parameters if k.startswith("model.")} - known.keys()
        if lost or Words.from_json(learned["words"]) != self.words:
            raise PolymodalError(
                "--init names a run with other words or another shape of model"
                f"{': ' + ', '.join(sorted(lost)[:5]) if lost else ''}. Start from a run on the "
                "same data with the same model settings."
            )
        self.load_state_dict(known, strict=False)
        self.begun = True

    def check(self, splits: Mapping[str, Dataset]) -> None:
        """Before training: is there a trained model for stage two alone, and do the texts of all
        splits fit the vocabulary?"""
        if self.config.flow_share == 1 and not self.begun:
            raise PolymodalError(
                "--flow-share 1 is stage two alone, which needs a trained model: name its run with "
                "--init, or give a smaller share."
            )
        check_texts(splits, self.words)

    def examples(self, dataset: Dataset) -> ImageTexts:
        check_pictures(dataset, self.size)
        return ImageTexts(dataset, self.words)

    def compile_parts(self) -> None:
        """Compile the image networks with their likelihood, the shared networks, the output layers
        of a GRU decoder, and the flows; not the GRUs, which are already one kernel each."""
        model = self.model
        for part in (
            model.image_encoder,
            model.shared_encoder,
            model.shared_decoder,
            model.picture,
            model.text_decoder.head,
        ):
            if part is not None:
                part.compile()
        for flow in self.densities.flows():
            flow.compile_moves()

    @property
    def second_stage(self) -> int:
        """The first step of stage two. If stage two is asked for, it has at least one step."""
        share, last = self.config.flow_share, self.clock.last
        return last - max(1, round(share * last)) if share else last

    def train(self, mode: bool = True) -> "VLVAE":
        """A frozen model keeps its batch norms and dropout in evaluation mode."""
        super().train(mode)
        if self.frozen:
            self.model.eval()
        return self

    def training_step(self, batch: ImageTextBatch, batch_idx: int) -> dict[str, Tensor]:
        """The loss of the current stage, in nats per image."""
        if self.global_step < self.second_stage:
            self.kl_weight.fill_(self.scheduled_kl_weight())
            return self.stepped(self.joint_step, batch)
        if not self.frozen:
            self.freeze_model()
        return self.stepped(self.density_step, batch)

    def freeze_model(self) -> None:
        """From here on only φ is trained (004, §2)."""
        self.frozen = True
        self.model.requires_grad_(False).eval().zero_grad()

    def joint_step(self, batch: ImageTextBatch) -> Outputs:
        return step_output(self.joint_loss(batch))

    def density_step(self, batch: ImageTextBatch) -> Outputs:
        return step_output(self.density_loss(batch))

    def joint_loss(self, batch: ImageTextBatch) -> Float[Tensor, ""]:
        """Stage one: minus the weighted bound on log p(x, y) (004, eq. 1–2 and §5.3)."""
        texts = self.one_text(batch.texts)
        posterior = self.model.posterior(batch.images, texts)
        k = self.config.samples
        z = posterior.sample(k)
        said = times(texts, k)
        logs = self.log_likelihoods(z.flatten(0, 1), times(batch.images, k), said).unflatten(
            0, (k, -1)
        )
        loss = -self.bound(logs, posterior, z)
        if self.config.joint and self.densities.aggregate is not None:
            loss = loss + self.config.joint * self.divergence(posterior, z, said)
        return loss

    def log_likelihoods(
        self,
        z: Float[Tensor, "n z"],
        images: UInt8[Tensor, "n 3 h w"],
        texts: Int[Tensor, "n t"],
    ) -> Float[Tensor, " n"]:
        """The weighted log-likelihoods of an image and its text given z (004, §5.3.1)."""
        code = self.model.code(z)
        with Aside(code.device) as words:
            text = self.config.text_weight * self.model.log_py(code, texts)
        picture = self.config.image_weight * self.model.log_px(code, images)
        words.join()
        return picture + text

    def bound(
        self,
        logs: Float[Tensor, "k b"],
        posterior: DiagonalGaussian,
        z: Float[Tensor, "k b z"],
    ) -> Float[Tensor, ""]:
        """E[log p(x, y|z)] − KL (004, eq. 2), or with several samples the importance-weighted
        bound."""
        if len(z) > 1:
            weights = logs + self.kl_weight * (log_prior(z) - posterior.log_prob(z))
            return (weights.logsumexp(0) - math.log(len(z))).mean()
        each = posterior.kl_by_dimension(DiagonalGaussian.standard(posterior.mean)).mean(0)
        return logs.mean() - self.kl_weight * each.clamp_min(self.config.free_bits).sum()

    def scheduled_kl_weight(self) -> float:
        """The KL weight, which rises to 1 during warm-up: linearly from 0, or by a constant factor."""
        steps, start = self.config.warmup * self.second_stage, self.config.warm_from
        done = min(1.0, (self.global_step + 1) / steps) if steps else 1.0
        return float(start ** (1 - done)) if start else done

    def divergence(
        self, posterior: DiagonalGaussian, z: Float[Tensor, "k b z"], texts: Int[Tensor, "n t"]
    ) -> Float[Tensor, ""]:
        """KL(q(z|x) ‖ q_agg(z|y)), with gradients for all parameters (JMVAE; 004, §3)."""
        log_q = in_float32(self.densities.aggregate, texts, z.flatten(0, 1))  # type: ignore[arg-type]
        return (posterior.log_prob(z).flatten() - log_q).mean()

    def density_loss(self, batch: ImageTextBatch) -> Float[Tensor, ""]:
        """Stage two: the sum of the densities' losses, which share no parameters."""
        draws = self.config.flow_samples
        with torch.no_grad():
            texts = self.one_text(times(batch.texts, draws))
            if self.model.text_encoder is None:
                z = self.model.posterior(batch.images, None).sample(draws).flatten(0, 1)
            else:
                z = self.model.posterior(times(batch.images, draws), texts).sample()
        with torch.autocast(z.device.type, enabled=False):
            losses = self.densities.losses(self.model, texts, z)
        return torch.stack(list(losses.values())).sum()

    def configure_optimizers(self) -> Any:
        config, second, last = self.config, self.second_stage, self.clock.last
        adam = torch.optim.Adam(
            [
                {"params": self.model.parameters(), "lr": config.lr},
                {"params": self.densities.parameters(), "lr": config.flow_lr},
            ],
            fused=self.device.type == "cuda",
        )

        def falling(step: int) -> float:
            """The factor on the learning rate within the stage."""
            first, end = (0, second) if step < second else (second, last)
            done = (step - first) / max(1, end - first) if config.decay else 0.0
            return half_cosine(done, floor=0.05)

        decay = torch.optim.lr_scheduler.LambdaLR(adam, falling)
        return {"optimizer": adam, "lr_scheduler": {"scheduler": decay, "interval": "step"}}

    def clipped_apart(self) -> list[torch.nn.Module]:
        """Gradients are clipped per density, so that a large one does not slow down the others."""
        return [self.model, *self.densities.children()]

    # Evaluation

    def validate(self, dataset: Dataset) -> dict[str, float]:
        """Bounds on the first images of a split; the score for model selection only in stage two."""
        scores = scores_of(self, self.batches(dataset, QUICK), samples=1)
        if self.config.densities and not self.frozen:
            del scores[self.monitor]
        return scores

    def evaluate(self, dataset: Dataset) -> dict[str, float]:
        """All bounds with their errors, and the two parts of the KL term."""
        scores = scores_of(self, self.batches(dataset, len(dataset)), samples=4)
        return scores | kl_parts(self, self.batches(dataset, PARTS))

    def batches(self, dataset: Dataset, most: int, block: int = 256) -> Iterator[ImageTextBatch]:
        """The first images of a split with their texts, on the device."""
        self.eval()
        for batch in self.examples(dataset).blocks(most, block):
            yield batch.to(self.device)

    def symptoms(self, scores: dict[str, float]) -> list[str]:
        """Warnings about a KL that is too small or too large."""
        symptoms = []
        if scores["kl"] < 1:
            symptoms.append(
                f"The latent variable has almost no information (KL {scores['kl']:.2f} nats): images "
                "and texts do not depend on it. Try a longer --warmup, --free-bits 0.1, or larger "
                "--image-weight and --text-weight."
            )
        if scores["kl"] > 2 * self.config.latent:
            symptoms.append(
                f"The latent variable holds {scores['kl']:.0f} nats in {self.config.latent} "
                "dimensions, which is hard for flows to model. Try a smaller --image-weight."
            )
        return symptoms

    def protocol(self) -> dict[str, Any]:
        config = self.config
        return {
            "likelihood": f"{config.likelihood}, pictures as bytes",
            "weights": {"image": config.image_weight, "text": config.text_weight},
            "texts": "all true ones, one drawn for an image" if not config.shuffle else "shuffled",
            "bounds": "log p(y) by q_agg under either prior, and by q_true under N(0, I)",
        }


def step_output(loss: Float[Tensor, ""]) -> Outputs:
    """A loss in the form that a training step returns."""
    return {"loss": loss, "shown": loss.detach()}


def times(batch: Shaped[Tensor, "b ..."], k: int) -> Shaped[Tensor, "n ..."]:
    """A batch repeated k times."""
    return batch.expand(k, *batch.shape).flatten(0, 1)
