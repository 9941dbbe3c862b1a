"""Text models of transformers: how one is described, so that it can be built again without its files."""

from typing import Any

import torch

from polymodal.base.errors import PolymodalError
from polymodal.nn.pretrained import broken, reason


def text_model(config: Any) -> Any:
    """The text model of a configuration, with weights at random."""
    import transformers

    towers = {"siglip_text_model": "SiglipTextModel", "siglip2_text_model": "Siglip2TextModel"}
    if config.model_type in towers:  # which AutoModel does not know
        return getattr(transformers, towers[config.model_type])(config).float()
    return transformers.AutoModel.from_config(config, dtype=torch.float32)


def describe_text_model(source: str) -> dict[str, Any]:
    """What is needed to build the text model at a hub id or folder again without it, but its weights."""
    return described(source, *open_text_model(source))


def described(source: str, config: Any, tokenizer: Any) -> dict[str, Any]:
    """The same of one that is open."""
    return {
        "source": source,
        "config": config.to_dict(),
        "tokenizer": tokenizer.backend_tokenizer.to_str(),
        "pad": tokenizer.pad_token_id or 0,
        "longest": min(tokenizer.model_max_length, config.max_position_embeddings),
        "whole": config.model_type.startswith("siglip"),
    }


def open_text_model(source: str) -> tuple[Any, Any]:
    """The configuration and the tokenizer at a hub id or folder."""
    from transformers import AutoConfig, AutoTokenizer

    try:
        config = AutoConfig.from_pretrained(source, trust_remote_code=False)
    except broken() as error:
        raise PolymodalError(
            f"No text model could be opened at {source!r}: {reason(error)}\n"
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
        tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
        tokenizer.backend_tokenizer.to_str()
    except (AttributeError, ImportError) as error:  # a tokenizer without a backend, or of a package
        raise no_tokenizer(source, str(error).splitlines()[0]) from error
    except broken() as error:
        raise no_tokenizer(source, (reason(error).splitlines() or [""])[0]) from error
    # without its files transformers makes an empty tokenizer, to which all words are unknown
    if not config.vocab_size / 2 <= len(tokenizer) <= config.vocab_size:
        size = f"there is one of {len(tokenizer)} tokens for a model of {config.vocab_size}"
        raise no_tokenizer(source, size)
    return config, tokenizer


def no_tokenizer(source: str, reason: str) -> PolymodalError:
    """Say what a text model lacks."""
    return PolymodalError(
        f"{source!r} has no tokenizer of its own that could be opened: {reason}.\n"
        "A text model needs its tokenizer.json and tokenizer_config.json beside its weights."
    )
