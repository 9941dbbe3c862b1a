"""A training step of OC-GAN as one writes it first: whatever is made of boxes, box by box (`plain_layouts`).

It has the weights of a system and gives the losses of the system's own step, as a test checks.
Convolutions, linear layers and the perceptual network are the same. Settings that are off by default
(flips, DiffAugment, R1, other conditioning, fewer discriminators) are not written again.
"""

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import avg_pool2d, cosine_similarity, normalize

from plain_layouts import Pictures, class_maps, crops, edge_maps, listed, masked, related
from polymodal.data.layout_examples import LayoutBatch
from polymodal.nn.layout_conditioning import Condition, Part
from polymodal.nn.layout_discriminators import Verdict
from polymodal.nn.layout_generator import START
from polymodal.nn.layout_maps import Layouts
from polymodal.nn.scene_graph_similarity import PictureFeatures
from polymodal.nn.scene_graphs import GraphFeatures
from polymodal.systems.layout.composing import as_pixels
from polymodal.systems.layout.layout_gan import LayoutGAN
from polymodal.systems.layout.layout_losses import (
    adversarial_loss,
    discriminators_loss,
    matching_loss,
    perceptual_loss,
)
from polymodal.systems.layout.layout_noise import Noise
from polymodal.systems.layout.similarity_module import SGSM


class PlainCondition(Condition):
    """What is told of a batch of layouts, its maps drawn box by box."""

    def __init__(self, pictures: Pictures, *told: Any, **parts: Any) -> None:
        super().__init__(*told, **parts)
        self.pictures = pictures

    def part(self, name: Part, size: int) -> Float[Tensor, "b c {size} {size}"]:
        """One of its parts."""
        device = self.layouts.boxes.device
        if name == "classes":
            return class_maps(self.pictures, self.classes, size, device)
        if name == "boundaries":
            return edge_maps(self.pictures, size, device)
        assert self.objects is not None
        return masked(self.pictures, self.objects, size)


def drawn(
    system: LayoutGAN, layouts: Layouts, pictures: Pictures, noise: Noise
) -> Float[Tensor, "b 3 h w"]:
    """Pictures by a system's generator, its maps as torch lays them out by itself."""
    net = system.generator
    told = net.conditioning
    condition = PlainCondition(
        pictures,
        layouts,
        classes=told.classes,
        parts=told.parts,
        objects=told.objects(layouts, noise.objects),
    )
    maps = net.start(noise.picture).unflatten(1, (net.first, START, START))
    for block in net.blocks:
        maps = block(maps, condition)
    return net.last((net.shift + net.norm(maps) * net.scale).relu()).tanh()


def judged(
    system: LayoutGAN, seen: Float[Tensor, "n 3 h w"], beside: Tensor, pictures: Pictures
) -> Verdict:
    """What a system's discriminators make of pictures beside the maps of their layouts."""
    net: Any = system.discriminators
    patches = []
    cut = crops(seen, pictures)
    beside = torch.cat([seen, beside], 1)
    for judge in net.patches:
        patches.append(judge(beside))
        beside = avg_pool2d(beside, 2)
    features = net.objects.blocks(cut).sum((2, 3))
    return Verdict(patches, net.objects.real(features)[:, 0], net.objects.classes(features))


def local_similarity(
    seen: PictureFeatures, graphs: GraphFeatures, pictures: Pictures, module: SGSM
) -> Float[Tensor, "m n"]:
    """Sim^L of every picture and graph, graph by graph with every attended vector, as AttnGAN has it."""
    columns = []
    for each, things in zip(graphs.each, pictures, strict=True):
        objects = each[: len(things)]
        products = torch.einsum("od,mpd->mop", objects, seen.each)
        weights = (module.gamma1 * products.softmax(-1)).softmax(-1)
        attended = weights @ seen.each
        cosines = cosine_similarity(attended, objects[None], dim=-1)
        columns.append((module.gamma2 * cosines).logsumexp(-1) / module.gamma2)
    return torch.stack(columns, 1)


def similarity_loss(
    module: SGSM, pixels: Float[Tensor, "b 3 h w"], layouts: Layouts, pictures: Pictures
) -> Float[Tensor, ""]:
    """L_SGSM of drawn pictures, as values from 0 to 255."""
    seen = module.pictures(pixels)
    held = related(pictures, layouts.there.shape[1]).to(pixels.device)
    graphs = module.graphs(layouts.classes, held, layouts.there)
    whole = normalize(seen.whole, dim=-1) @ normalize(graphs.whole, dim=-1).T
    local = local_similarity(seen, graphs, pictures, module)
    return matching_loss(local, module.gamma3) + matching_loss(whole, module.gamma3)


class PlainStep:
    """Steps of a system's discriminators and its generator, in float32, by batches on the host.

    Args:
        system: whose weights learn.
        batches: what from.
        optimizers: of the discriminators and of the generator.
    """

    def __init__(
        self, system: LayoutGAN, batches: Iterator[LayoutBatch], optimizers: list[Any]
    ) -> None:
        self.system, self.batches = system, batches
        self.of_discriminators, self.of_generator = optimizers

    def __call__(self) -> Tensor:
        """A step; gives the mean hinge loss of the discriminators."""
        system, batch = self.system, next(self.batches)
        here = Layouts(batch.boxes, batch.classes, batch.there)
        pictures, layouts = listed(here), here.to(system.device)
        real = batch.image.to(system.device).float() / 127.5 - 1
        kinds = [thing.kind for things in pictures for thing in things]
        classes = torch.tensor(kinds, device=system.device)
        made = drawn(system, layouts, pictures, system.fresh_noise(layouts))
        beside = maps_beside(system, pictures)

        both = torch.cat([real, made.detach()])
        of_both = judged(system, both, torch.cat([beside, beside]), pictures + pictures)
        loss, shown = discriminators_loss(*of_both.halves(), classes, system.config.lambda_o)
        descend(self.of_discriminators, loss)

        system.discriminators.requires_grad_(False)
        verdict = judged(system, made, beside, pictures)
        loss = adversarial_loss(verdict, classes, system.config.lambda_ac)
        loss = loss + frozen_losses(system, real, made, layouts, pictures)
        descend(self.of_generator, loss)
        system.discriminators.requires_grad_(True)
        system.average.follow(system.generator, system.global_step)
        return shown


def maps_beside(system: LayoutGAN, pictures: Pictures) -> Float[Tensor, "b c h w"]:
    """Classes and edges, which discriminators see beside a picture."""
    kinds = class_maps(pictures, len(system.classes), system.size, system.device)
    return torch.cat([kinds, edge_maps(pictures, system.size, system.device)], 1)


def frozen_losses(
    system: LayoutGAN,
    real: Float[Tensor, "b 3 h w"],
    made: Float[Tensor, "b 3 h w"],
    layouts: Layouts,
    pictures: Pictures,
) -> Float[Tensor, ""]:
    """The perceptual loss and that of similarity, weighed; 0 without their networks."""
    loss = torch.zeros((), device=made.device)
    for network in system.features:
        with torch.no_grad():
            true = network.body(as_pixels(real)).maps
        seen = network.body(as_pixels(made)).maps
        loss = loss + system.config.lambda_p * perceptual_loss(true, seen)
    for module in system.similarity:
        apart = similarity_loss(module, as_pixels(made), layouts, pictures)
        loss = loss + system.lambda_sgsm * apart
    return loss


def descend(optimizer: Any, loss: Float[Tensor, ""]) -> None:
    """One step of an optimiser."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
