"""The fully connected networks between an encoding, the latent variable and what is decoded from it."""

from jaxtyping import Float
from torch import Tensor, nn

from polymodal.maths.diagonal_gaussian import DiagonalGaussian, squashed
from polymodal.nn.renorm import Norm, normalised

LOW, HIGH = 1e-5, 1e5
"""The range of a posterior's variances: wide, but their logarithms can neither over- nor underflow."""


class Skip(nn.Sequential):
    """Layers beside a connection that skips them, x + f(x)."""

    def forward(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        return x + super().forward(x)


def dense(inputs: int, outputs: int, dropout: float = 0.0, norm: Norm = "batch") -> nn.Sequential:
    """A fully connected layer, batch norm (which takes any bias off), ReLU and dropout."""
    return nn.Sequential(
        nn.Linear(inputs, outputs, bias=False),
        normalised(outputs, norm),
        nn.ReLU(),
        nn.Dropout(dropout),
    )


def three_layers(
    inputs: int, hidden: int, outputs: int, dropout: float = 0.0, norm: Norm = "batch"
) -> nn.Sequential:
    """Three fully connected layers, the second beside a residual connection (004, §5.1)."""
    return nn.Sequential(
        dense(inputs, hidden, dropout, norm),
        Skip(dense(hidden, hidden, dropout, norm)),
        nn.Linear(hidden, outputs),
    )


class SharedEncoder(nn.Module):
    """q(z|·): the encodings of what is seen, side by side, to a Gaussian of z (004, §5.1)."""

    def __init__(
        self, *, inputs: int, latent: int, hidden: int = 200, norm: Norm = "batch"
    ) -> None:
        super().__init__()
        self.layers = three_layers(inputs, hidden, 2 * latent, norm=norm)

    def forward(self, encoding: Float[Tensor, "b d"]) -> DiagonalGaussian:
        mean, log_var = self.layers(encoding).chunk(2, -1)
        return DiagonalGaussian(mean, squashed(log_var, LOW, HIGH))


class SharedDecoder(nn.Module):
    """z to the vector that all decoders start from: five layers, two residual connections (004, §5.1)."""

    def __init__(
        self, *, latent: int, code: int = 200, hidden: int = 200, norm: Norm = "batch"
    ) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            dense(latent, hidden, norm=norm),
            Skip(dense(hidden, hidden, norm=norm)),
            three_layers(hidden, hidden, code, norm=norm),
        )
        self.dim = code

    def forward(self, z: Float[Tensor, "b z"]) -> Float[Tensor, "b d"]:
        code: Tensor = self.layers(z)
        return code
