"""A decoder after DCGAN's generator, for learners that draw what they saw again (Radford et al., 2015)."""

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import interpolate

from polymodal.nn.scratch import thinned

DOUBLINGS = 4


class Drawer(nn.Module):
    """A vector to a picture: a linear map to small maps, then four transposed convolutions of 4×4."""

    def __init__(self, *, code: int, size: int, slim: int = 1) -> None:
        super().__init__()
        self.size, self.side = size, -(-size // 2**DOUBLINGS)
        widths = thinned((512, 256, 128, 64), slim)
        self.start = nn.Linear(code, widths[0] * self.side**2)
        layers: list[nn.Module] = [nn.BatchNorm2d(widths[0]), nn.ReLU()]
        for wide, narrow in zip(widths, [*widths[1:], 3], strict=True):
            layers.append(nn.ConvTranspose2d(wide, narrow, 4, 2, 1))
            if narrow != 3:
                layers += [nn.BatchNorm2d(narrow), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, code: Float[Tensor, "b d"]) -> Float[Tensor, "b 3 h w"]:
        """Pictures of values about −1 to 1."""
        maps = self.layers(self.start(code).unflatten(1, (-1, self.side, self.side)))
        if maps.shape[-1] == self.size:
            return maps
        return interpolate(maps, (self.size, self.size), mode="bilinear")

    def error(
        self, code: Float[Tensor, "b d"], seen: Float[Tensor, "b 3 h w"], std: float
    ) -> Float[Tensor, " b"]:
        """½ Σ ((drawn − seen) / std)²: minus log N(seen; drawn, std²) but for a constant, in nats."""
        away = (self(code).float() - seen) / std
        return 0.5 * away.square().flatten(1).sum(1)
