"""Caption encoders: tokens in, one vector a caption out."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from polymodal.base.errors import PolymodalError
from polymodal.nn.pretrained import take_weights


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


class FrozenText(nn.Module):
    """A text model of transformers that is used as it is: no gradients, no dropout.

    The encoding is the pooled output of a text tower that has one (CLIP, SigLIP), which was trained
    for it, and the mean of the tokens' states of any other (BERT, MiniLM), as sentence encoders do.
    """

    def __init__(self, description: dict[str, Any]) -> None:
        from transformers import AutoConfig

        super().__init__()
        config = AutoConfig.for_model(**description["config"])
        self.model = text_model(config).requires_grad_(False).eval()
        self.source: str = description["source"]
        self.dim = int(config.hidden_size)
        self.pooled: bool = config.model_type.endswith("_text_model")

    def load_pretrained(self) -> None:
        """Take the weights that the model was described from."""
        take_weights(self.model, self.source)

    def train(self, mode: bool = True) -> "FrozenText":
        super().train(mode)
        self.model.eval()
        return self

    @torch.no_grad()
    def forward(
        self, tokens: Int[Tensor, "b t"], lengths: Int[Tensor, " b"]
    ) -> Float[Tensor, "b d"]:
        there = torch.arange(tokens.shape[1], device=tokens.device) < lengths[:, None]
        states = self.model(input_ids=tokens, attention_mask=there.long())
        if self.pooled:
            return states.pooler_output
        weight = there[:, :, None] / lengths[:, None, None]
        return (states.last_hidden_state * weight).sum(1)


def text_model(config: Any) -> Any:
    """The text model of a configuration, with weights at random."""
    import transformers

    towers = {"siglip_text_model": "SiglipTextModel", "siglip2_text_model": "Siglip2TextModel"}
    if config.model_type in towers:  # which AutoModel does not know
        return getattr(transformers, towers[config.model_type])(config).float()
    return transformers.AutoModel.from_config(config, dtype=torch.float32)


def describe_text_model(source: str) -> dict[str, Any]:
    """What is needed to build the text model at a hub id or folder again without it, but its weights."""
    from transformers import AutoConfig, AutoTokenizer

    try:
        config = AutoConfig.from_pretrained(source)
    except (OSError, ValueError) as error:
        raise PolymodalError(
            f"No text model could be opened at {source!r}: {error}\n"
            "Give a hub id that can be reached, or a folder with config.json, model.safetensors and "
            "tokenizer.json."
        ) from error
    config = getattr(config, "text_config", config)
    if config.is_encoder_decoder or not hasattr(config, "vocab_size"):
        raise PolymodalError(
            f"{source!r} is a {config.model_type}, which does not encode texts alone. Give the "
            "text tower of CLIP or SigLIP, or an encoder such as BERT or MiniLM."
        )
    try:
        tokenizer = AutoTokenizer.from_pretrained(source)
        written = tokenizer.backend_tokenizer.to_str()
    except (OSError, ValueError, ImportError, AttributeError) as error:
        raise no_tokenizer(source, str(error).splitlines()[0]) from error
    # without its files transformers makes an empty tokenizer, to which all words are unknown
    if not config.vocab_size / 2 <= len(tokenizer) <= config.vocab_size:
        reason = f"there is one of {len(tokenizer)} tokens for a model of {config.vocab_size}"
        raise no_tokenizer(source, reason)
    return {
        "source": source,
        "config": config.to_dict(),
        "tokenizer": written,
        "pad": tokenizer.pad_token_id or 0,
        "longest": min(tokenizer.model_max_length, config.max_position_embeddings),
        "whole": config.model_type.startswith("siglip"),
    }


def no_tokenizer(source: str, reason: str) -> PolymodalError:
    """Say what a text model lacks."""
    return PolymodalError(
        f"{source!r} has no tokenizer of its own that could be opened: {reason}.\n"
        "A text model needs its tokenizer.json and tokenizer_config.json beside its weights."
    )
