"""Caption encoders: tokens in, one vector a caption out."""

from jaxtyping import Float, Int
from torch import Tensor, nn


class GRUEncoder(nn.Module):
    """ψ(c): the state of a GRU over word vectors after the caption's last word (001 §3.1)."""

    def __init__(
        self, vocabulary: int, words: int = 300, hidden: int = 1024, scale: float = 0.1
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, words)
        self.gru = nn.GRU(words, hidden, batch_first=True)
        self.dim = hidden
        nn.init.uniform_(self.embed.weight, -scale, scale)

    def forward(
        self, tokens: Int[Tensor, "b t"], lengths: Int[Tensor, " b"]
    ) -> Float[Tensor, "b d"]:
        states, _ = self.gru(self.embed(tokens))
        last = (lengths - 1).view(-1, 1, 1).expand(-1, 1, states.shape[-1])
        return states.gather(1, last).squeeze(1)
