"""Caption encoders: tokens in, one vector a caption out."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from polymodal.nn.language_models import LanguageModel


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


class FrozenText(LanguageModel):
    """A text model of transformers that is used as it is: no gradients, no dropout.

    The encoding is the pooled output of a text tower that has one (CLIP, SigLIP), which was trained
    for it, and the mean of the tokens' states of any other (BERT, MiniLM), as sentence encoders do.
    """

    def __init__(self, description: dict[str, Any]) -> None:
        super().__init__(description)
        self.freeze()
        self.pooled: bool = self.model.config.model_type.endswith("_text_model")

    def forward(
        self, tokens: Int[Tensor, "b t"], lengths: Int[Tensor, " b"]
    ) -> Float[Tensor, "b d"]:
        output = self.read(tokens, lengths)
        if self.pooled:
            return output.pooler_output
        there = torch.arange(tokens.shape[1], device=tokens.device) < lengths[:, None]
        weight = there[:, :, None] / lengths[:, None, None]
        return (output.last_hidden_state * weight).sum(1)
