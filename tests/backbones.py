"""Tiny models of transformers in folders, their weights drawn at random, with tokenizers where they read."""

import json
from pathlib import Path

SMALL = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
WORDS = [
    "<pad>", "<start>", "<end>", "<unk>", "a", "at", "the", "square", "something", "left", "right",
    "top", "bottom", "red", "green", "blue", "<mask>",
]  # fmt: skip
"""All words of the toy captions but 'white'."""
LONGEST = 10


def write_tokenizer(folder: Path) -> None:
    """A tokenizer by words, with a start and an end, as transformers keeps it."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    numbers = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<start> $A <end>", special_tokens=[("<start>", 1), ("<end>", 2)]
    )
    special = {"pad": "<pad>", "unk": "<unk>", "bos": "<start>", "eos": "<end>", "mask": "<mask>"}
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=LONGEST,
        **{f"{kind}_token": token for kind, token in special.items()},
    ).save_pretrained(folder)


def write_model(folder: Path, kind: str) -> Path:
    """A folder with a CLIP, a SigLIP, a DINOv2, or a BERT without or with its masked-language-model head."""
    import torch
    import transformers as t

    torch.manual_seed(0)
    wide = {**SMALL, "intermediate_size": 16}
    ends = {"eos_token_id": 2, "bos_token_id": 1, "pad_token_id": 0}
    text = {**wide, "vocab_size": len(WORDS), "max_position_embeddings": LONGEST, **ends}
    image = {**wide, "image_size": 32, "patch_size": 16}
    bert = t.BertConfig(**{**text, "max_position_embeddings": 12})
    make = {
        "clip": lambda: t.CLIPModel(
            t.CLIPConfig(text_config=text, vision_config=image, projection_dim=12)
        ),
        "siglip": lambda: t.SiglipModel(t.SiglipConfig(text_config=text, vision_config=image)),
        "dinov2": lambda: t.Dinov2Model(t.Dinov2Config(**SMALL, image_size=28, patch_size=8)),
        "bert": lambda: t.BertModel(bert),
        "masked-bert": lambda: t.BertForMaskedLM(bert),
    }
    make[kind]().save_pretrained(folder)
    if kind != "dinov2":
        write_tokenizer(folder)
    if not kind.endswith("bert"):
        scaling = {"image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.25, 0.3]}
        (folder / "preprocessor_config.json").write_text(json.dumps(scaling))
    return folder
