"""A generator of pictures from layouts against its discriminators: training, scores, use."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from polymodal.base.errors import PolymodalError, unknown
from polymodal.base.progress import say
from polymodal.data.layout_examples import LayoutBatch
from polymodal.data.records import Dataset
from polymodal.nn.averaging import Average
from polymodal.nn.feature_networks import FeatureNetwork, network_named
from polymodal.nn.layout_maps import Layouts
from polymodal.systems.layout.composing import Composing, as_pixels
from polymodal.systems.layout.layout_learner import half_mirrored
from polymodal.systems.layout.layout_losses import (
    adversarial_loss,
    discriminators_loss,
    perceptual_loss,
    squared_gradient,
)
from polymodal.systems.layout.layout_networks import discriminators, generator, maps_beside
from polymodal.systems.layout.layout_noise import Noise, random_noise
from polymodal.systems.layout.made_pictures import PictureMeasure, picture_symptoms
from polymodal.systems.layout.similarity_module import SGSM, sgsm_of_run
from polymodal.training.system import Scores

EVERY = 16
"""Steps from one R1 penalty to the next, whose weight is as many times larger (StyleGAN2)."""

WON = 0.02
"""The mean hinge loss of discriminators that have won; 2 is that of such as tell nothing apart."""

VALIDATED = 256
"""Layouts of a validation."""


class LayoutGAN(Composing):
    """Generator, its average, and discriminators.

    What is frozen, the feature networks and the scene-graph similarity module, is kept in tuples and so
    is no part of the weights: nothing but training and scoring needs it.
    """

    monitor, better = "fid", "lower"
    automatic_optimization = False
    strategy = "ddp_find_unused_parameters_true"  # each optimiser moves a part of the parameters
    lambda_sgsm: Tensor

    def __init__(self, config: Any, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        self.classes: tuple[str, ...] = tuple(learned["classes"])
        self.size: int = learned["size"]
        self.generator = generator(config, learned)
        self.average = Average(self.generator, config.ema)
        self.discriminators = discriminators(config, learned)
        self.features: tuple[FeatureNetwork, ...] = ()
        self.similarity: tuple[SGSM, ...] = ()
        self.measure = PictureMeasure(config.measured_by)
        self.register_buffer("lambda_sgsm", torch.zeros(()))

    @property
    def shown(self) -> nn.Module:
        return self.average.module

    # Before training

    def start(self, train: Dataset) -> None:
        """Open the network of the perceptual loss, if there is such a loss."""
        if self.config.lambda_p:
            weights = self.config.perceptual_weights
            network = network_named(self.config.perceptual, weights and Path(weights))
            with torch.no_grad():
                has_maps = network(torch.zeros(1, 3, self.size, self.size)).maps
            if not has_maps:
                raise PolymodalError(
                    f"{self.config.perceptual} gives no maps, of which the perceptual loss is made. Give a "
                    "convolutional network as --perceptual, or --lambda-p 0 to go without that loss."
                )
            self.features = (network,)

    def take(self, part: str, weights: dict[str, Tensor], learned: dict[str, Any]) -> None:
        """Take the scene-graph similarity module of a run of `sgsm`, frozen."""
        if part != "sgsm":
            raise unknown("part of this system", part, ["sgsm"])
        given = self.config.lambda_sgsm
        if given == 0:
            raise PolymodalError(
                "--lambda-sgsm 0 makes no use of --parts sgsm=RUN. Leave one of them out."
            )
        self.similarity = (sgsm_of_run(weights, learned, self.classes, self.size),)
        self.lambda_sgsm.fill_(1.0 if given is None else given)

    def check(self, splits: Mapping[str, Dataset]) -> None:
        """Refuse a weight of the similarity loss without its module, and layouts of other classes."""
        if self.config.lambda_sgsm and not self.similarity:
            raise PolymodalError(
                f"--lambda-sgsm {self.config.lambda_sgsm:g} weighs the scene-graph similarity loss, whose "
                "module is missing. Train one with `polymodal train sgsm --data DATA --run RUN` and give it "
                "as --parts sgsm=RUN; or leave --lambda-sgsm out, to train without that loss."
            )
        if not self.similarity:
            say("There is no scene-graph similarity loss: for that, give --parts sgsm=RUN.")
        super().check(splits)

    def configure_optimizers(self) -> Any:
        return [
            torch.optim.Adam(
                part.parameters(),
                self.config.lr,
                betas=(0.5, 0.999),
                fused=self.device.type == "cuda",
            )
            for part in (self.discriminators, self.generator)
        ]

    # Training

    def on_fit_start(self) -> None:
        """Take what is frozen to the device, which as no part of the weights does not go by itself."""
        for part in (*self.features, *self.similarity):
            part.to(self.device)

    def training_step(self, batch: LayoutBatch, batch_idx: int) -> dict[str, Tensor]:
        """A step of the discriminators, then one of the generator, of the same drawn pictures.

        "shown" is the mean hinge loss of the discriminators: 0 when they tell all apart.
        """
        optimizers: Any = self.optimizers()
        of_discriminators, of_generator = optimizers
        real, layouts = self.seen(batch)
        beside = maps_beside(self.config, layouts, len(self.classes), self.size)
        drawn = self.drawn(self.generator, layouts, self.fresh_noise(layouts))
        with self.toggled_optimizer(of_discriminators):
            loss, shown = self.discriminators_loss(real, drawn.detach(), beside, layouts)
            self.descend(of_discriminators, loss)
        with self.toggled_optimizer(of_generator):
            self.descend(of_generator, self.generator_loss(real, drawn, beside, layouts))
        self.average.follow(self.generator, self.global_step)
        return {"shown": shown}

    def seen(self, batch: LayoutBatch) -> tuple[Float[Tensor, "b 3 h w"], Layouts]:
        """Real pictures from −1 to 1 and their layouts; half of them mirrored, if that is asked for."""
        layouts = Layouts.of(batch)
        real = batch.image.float() / 127.5 - 1
        if self.config.flips:
            real, layouts = half_mirrored(real, layouts)
        return real, layouts

    def discriminators_loss(
        self,
        real: Float[Tensor, "b 3 h w"],
        drawn: Float[Tensor, "b 3 h w"],
        beside: Float[Tensor, "b c h w"],
        layouts: Layouts,
    ) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
        """Their loss, and the mean of their hinge losses. Real and drawn pictures are seen at once."""
        of_real, of_drawn = self.discriminators(torch.cat([real, drawn]), beside, layouts).halves()
        classes = layouts.classes.flatten()[layouts.objects]
        loss, shown = discriminators_loss(of_real, of_drawn, classes, self.config.lambda_o)
        if self.config.r1 and self.global_step % EVERY == 0:
            seen = real.clone().requires_grad_()
            with torch.autocast(seen.device.type, enabled=False):
                told = self.discriminators.of_patches(seen, beside)
                loss = loss + EVERY * self.config.r1 * squared_gradient(told, seen)
        return loss, shown

    def generator_loss(
        self,
        real: Float[Tensor, "b 3 h w"],
        drawn: Float[Tensor, "b 3 h w"],
        beside: Float[Tensor, "b c h w"],
        layouts: Layouts,
    ) -> Float[Tensor, ""]:
        """L_G (003, eq. 6.3.9)."""
        verdict = self.discriminators(drawn, beside, layouts)
        classes = layouts.classes.flatten()[layouts.objects]
        loss = adversarial_loss(verdict, classes, self.config.lambda_ac)
        for network in self.features:
            with torch.no_grad():  # a body is as precise as the training around it
                true = network.body(as_pixels(real)).maps
            made = network.body(as_pixels(drawn)).maps
            loss = loss + self.config.lambda_p * perceptual_loss(true, made)
        for module in self.similarity:
            loss = loss + self.lambda_sgsm * module(as_pixels(drawn), layouts)
        return loss

    def fresh_noise(self, layouts: Layouts) -> Noise:
        """Noise for a training step."""
        b, o = layouts.there.shape
        return random_noise(b, o, widths=self.noise_widths, device=layouts.boxes.device)

    # Scores

    def validate(self, dataset: Dataset) -> Scores:
        """The Fréchet distance of pictures of the first validation layouts."""
        return self.measure.quick(self, dataset, VALIDATED)

    def evaluate(self, dataset: Dataset) -> Scores:
        """All scores of pictures of all layouts."""
        return self.measure.whole(self, dataset)

    def symptom(self, loss: float) -> str | None:
        if loss > WON:
            return None
        return (
            "The discriminators have won: they tell every drawn picture from a real one (their hinge loss "
            f"is {loss:.2g}), so the generator learns little. Try --augment, --r1 1, a smaller "
            "--patch-width and --object-width, or more data."
        )

    def symptoms(self, scores: Scores) -> list[str]:
        return [*picture_symptoms(scores), *self.measure.symptoms()]

    def protocol(self) -> dict[str, Any]:
        return {
            "losses": {
                "perceptual": [Path(self.config.perceptual).name, self.config.lambda_p],
                "sgsm": self.lambda_sgsm.item(),
            },
            "measured_by": self.measure.protocol(),
            "pictures_by": "averaged generator, noise of seed 0, truncation 1",
        }
