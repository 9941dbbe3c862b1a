"""Pictures of layouts by a trained generator."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import check_count
from polymodal.data.layout_examples import LayoutBatch
from polymodal.data.layout_record import Layout, as_layouts
from polymodal.data.layouts import rows_of
from polymodal.nn.layout_maps import Layouts
from polymodal.systems.layout.layout_learner import LayoutLearner
from polymodal.systems.layout.layout_noise import Noise, seeded_noise

BLOCK = 32
"""Pictures that are drawn at once."""


class Composing(LayoutLearner):
    """What a generator of pictures from layouts can be asked for."""

    can = frozenset({"compose"})

    classes: tuple[str, ...]

    @property
    @abstractmethod
    def shown(self) -> nn.Module:
        """The generator that draws what is shown."""

    @property
    def noise_widths(self) -> tuple[int, int]:
        """How much noise a picture has, and an object."""
        return self.config.noise, self.config.object_noise

    @torch.no_grad()
    def compose(
        self,
        layout: Layout | Sequence[Layout],
        count: int = 1,
        seed: int = 0,
        truncation: float = 1.0,
    ) -> UInt8[np.ndarray, "n h w 3"]:
        """Pictures of a layout, or of several one after another.

        Args:
            layout: what is to be where.
            count: pictures of each layout.
            seed: picture k of every layout has the noise of this seed and k, so that layouts that differ
                a little give pictures that do.
            truncation: how much of its deviation the noise keeps: 1 as in training; less for likelier
                pictures that differ less, down to one picture at 0.
        """
        check_count("count", count, "how many pictures there are of a layout")
        if not 0 <= truncation < float("inf"):
            raise PolymodalError(
                f"truncation is a share of the noise's deviation, 0 or more, not {truncation}."
            )
        layouts = as_layouts(layout)
        rows = rows_of(layouts, self.classes)
        most = rows.there.shape[1]
        noise = seeded_noise(count, most, seed=seed, widths=self.noise_widths).scaled(truncation)
        arrays = (torch.from_numpy(rows.boxes), torch.from_numpy(rows.classes))
        whole = Layouts(*arrays, torch.from_numpy(rows.there))
        which = torch.arange(len(layouts)).repeat_interleave(count)
        number = torch.arange(count).repeat(len(layouts))
        made = self.pictures(whole.take(which), noise.take(number))
        return np.asarray(made.cpu().numpy())

    def made(self, batch: LayoutBatch, *, first: int, seed: int = 0) -> UInt8[Tensor, "b h w 3"]:
        """A picture of each layout of a batch, whose pictures are numbered from `first` on."""
        layouts = Layouts.of(batch)
        b, o = batch.there.shape
        noise = seeded_noise(b, o, seed=seed, widths=self.noise_widths, first=first)
        return self.pictures(layouts, noise)

    @torch.no_grad()
    def pictures(self, layouts: Layouts, noise: Noise) -> UInt8[Tensor, "b h w 3"]:
        """Pictures by the averaged generator, as bytes on its device."""
        self.eval()
        made = []
        for rows in torch.arange(len(layouts)).split(BLOCK):
            some = layouts.take(rows).to(self.device)
            made.append(as_bytes(self.drawn(self.shown, some, noise.take(rows))))
        return torch.cat(made)

    def drawn(self, by: Any, layouts: Layouts, noise: Noise) -> Float[Tensor, "b 3 h w"]:
        """Pictures from −1 to 1 of these layouts and this noise."""
        noise = noise.to(layouts.boxes.device)
        pictures: Tensor = by(layouts, noise.picture, noise.objects)
        return pictures


def as_pixels(pictures: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b 3 h w"]:
    """Values from −1 to 1 as 0 to 255."""
    return (pictures + 1) * 127.5


def as_bytes(pictures: Float[Tensor, "b 3 h w"]) -> UInt8[Tensor, "b h w 3"]:
    """Values from −1 to 1 as bytes."""
    return as_pixels(pictures).round().clamp(0, 255).to(torch.uint8).permute(0, 2, 3, 1)
