"""Language models: tokens in, a state a token out, and which words could stand there."""

import contextlib
from collections.abc import Iterable
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from polymodal.base.errors import PolymodalError
from polymodal.data.word_tokenizer import SPECIAL, word_tokenizer
from polymodal.nn.pretrained import building, is_run, learned_by_run, take_weights, weights_of_run
from polymodal.nn.text_models import described, open_text_model, text_model

LONGEST = 128
"""The most tokens that our own small model reads."""

ALIKE = 64
"""Texts alike in length that a processor reads together."""


class LanguageModel(nn.Module):
    """A text model of transformers by its description, with a masked-language-model head if it has one."""

    def __init__(self, description: dict[str, Any]) -> None:
        from transformers import AutoConfig, AutoModelForMaskedLM

        super().__init__()
        self.description, self.frozen = description, False
        self.head = description.get("head") is not None
        with building(description["source"]):
            config = AutoConfig.for_model(**description["config"])
            self.model = (
                AutoModelForMaskedLM.from_config(config, dtype=torch.float32)
                if self.head
                else text_model(config)
            )
        self.dim = int(config.hidden_size)
        self.twins = twins(self)
        self.register_state_dict_post_hook(leave_out_twins)
        self.register_load_state_dict_pre_hook(add_twins)

    def load_pretrained(self) -> None:
        """Take the weights that the model was described from; our own begins at random."""
        source = self.description["source"]
        if source is not None and is_run(source):
            weights = weights_of_run(source, "words")
            try:
                self.load_state_dict(weights)
            except RuntimeError as error:
                raise PolymodalError(
                    f"The weights of {source} are not those of the language model that its learned.json "
                    f"describes: {str(error).splitlines()[-1].strip()} Train it again."
                ) from error
        elif source is not None:
            take_weights(self.model, source, unused="pooler.")

    def freeze(self) -> "LanguageModel":
        """Use the model as it is from now on: no gradients, no dropout."""
        self.frozen = True
        self.requires_grad_(False)
        return self.eval()

    def train(self, mode: bool = True) -> "LanguageModel":
        return super().train(mode and not self.frozen)

    def ordinary(self) -> Bool[Tensor, " v"]:
        """Which tokens of the vocabulary are text: not those for padding, ends, masks, unknown words."""
        found = torch.ones(self.model.config.vocab_size, dtype=torch.bool)
        found[self.description["special"]] = False
        return found

    def states(
        self, tokens: Int[Tensor, "b t"], lengths: Int[Tensor, " b"]
    ) -> Float[Tensor, "b t d"]:
        """The state of each token in its context. Of many texts on a processor those alike in length are
        read together, since most of a batch would be padding; states of padding are zero there."""
        if tokens.device.type != "cpu" or len(tokens) <= ALIKE:
            return self.read(tokens, lengths).last_hidden_state
        found = tokens.new_zeros(*tokens.shape, self.dim, dtype=torch.float32)
        for rows in lengths.argsort().split(ALIKE):
            wide = int(lengths[rows].max())
            found[rows, :wide] = self.read(tokens[rows, :wide], lengths[rows]).last_hidden_state
        return found

    def logits(
        self, tokens: Int[Tensor, "b t"], lengths: Int[Tensor, " b"]
    ) -> Float[Tensor, "b t v"]:
        """How well each token of the vocabulary would stand at each place."""
        return self.masked_model(tokens, lengths).logits

    def logits_at(
        self, tokens: Int[Tensor, "b t"], lengths: Int[Tensor, " b"], places: Bool[Tensor, "b t"]
    ) -> Float[Tensor, "j v"]:
        """The same at some places alone, row by row: the head is most of the work of a small model."""

        def pick(module: nn.Module, given: Any, output: Any) -> Any:
            output.last_hidden_state = output.last_hidden_state[places][None]
            return output

        hook = self.model.base_model.register_forward_hook(pick)
        try:
            return self.masked_model(tokens, lengths).logits[0]
        finally:
            hook.remove()

    def masked_model(self, tokens: Int[Tensor, "b t"], lengths: Int[Tensor, " b"]) -> Any:
        """The output of model and head, if there is a head."""
        if not self.head:
            source = self.description["source"]
            raise PolymodalError(
                f"{source} has no masked-language-model head, so it cannot say which words could stand "
                f"somewhere. Train one with `polymodal train mlm --source {source} --run DIR`, and "
                "give that run."
            )
        return self.output(self.model, tokens, lengths)

    def read(self, tokens: Int[Tensor, "b t"], lengths: Int[Tensor, " b"]) -> Any:
        """The output of the model without its head."""
        return self.output(self.model.base_model if self.head else self.model, tokens, lengths)

    def output(
        self, model: nn.Module, tokens: Int[Tensor, "b t"], lengths: Int[Tensor, " b"]
    ) -> Any:
        there = torch.arange(tokens.shape[1], device=tokens.device) < lengths[:, None]
        with torch.no_grad() if self.frozen else contextlib.nullcontext():
            return model(input_ids=tokens, attention_mask=there.long())


def twins(model: nn.Module) -> dict[str, str]:
    """The second names of parameters that have two, as the first and last layer of BERT share theirs, and
    the first names."""
    first: dict[nn.Parameter, str] = {}
    found = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        if first.setdefault(parameter, name) != name:
            found[name] = first[parameter]
    return found


def leave_out_twins(model: Any, state: dict[str, Tensor], prefix: str, metadata: Any) -> None:
    """Keep weights under one name, which is all that safetensors takes."""
    for name in model.twins:
        state.pop(prefix + name)


def add_twins(model: Any, state: dict[str, Tensor], prefix: str, *rest: Any) -> None:
    """Bring weights back under both names."""
    for name, first in model.twins.items():
        if prefix + first in state:
            state.setdefault(prefix + name, state[prefix + first])


def describe_language_model(source: str, *, head: bool = False) -> dict[str, Any]:
    """What is needed to build a language model again without its source, but its weights, as JSON.

    Args:
        source: the run of `polymodal train mlm`, or a transformers model by hub id or folder.
        head: give a model that has no masked-language-model head of its own a fresh one.
    """
    if is_run(source):
        return {**learned_by_run(source, "words"), "source": source}
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

    config, tokenizer = open_text_model(source)
    able = config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    able = able and tokenizer.mask_token_id is not None
    if head and not able:
        raise PolymodalError(
            f"{source!r} is a {config.model_type}, which has no head for masked words, or no mask "
            "token. Give a model such as BERT or MiniLM."
        )
    kinds = ("ForMaskedLM", "ForPreTraining")
    own = able and any(name.endswith(kinds) for name in config.architectures or ())
    return {
        **described(source, config, tokenizer),
        "mask": tokenizer.mask_token_id,
        "unknown": tokenizer.unk_token_id,
        "special": tokenizer.all_special_ids,
        "head": "own" if own else "fresh" if head else None,
    }


def small_language_model(
    captions: Iterable[str], *, width: int, layers: int, heads: int
) -> dict[str, Any]:
    """Describe a small BERT over the words of some captions, which begins at random.

    Args:
        captions: those of the training split; the vocabulary is theirs alone.
        width: dimension of a token's state.
        layers: number of transformer layers.
        heads: attention heads of a layer, among which the width is shared.
    """
    from transformers import BertConfig

    if width % heads:
        raise PolymodalError(
            f"The width is shared by the heads, but {width} is no multiple of {heads}."
        )
    tokenizer = word_tokenizer(captions)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        max_position_embeddings=LONGEST,
        type_vocab_size=1,
        pad_token_id=0,
    )
    return {
        "source": None,
        "config": config.to_dict(),
        "tokenizer": tokenizer.to_str(),
        "pad": 0,
        "longest": LONGEST,
        "whole": False,
        "mask": SPECIAL.index("[MASK]"),
        "unknown": SPECIAL.index("[UNK]"),
        "special": list(range(len(SPECIAL))),
        "head": "own",
    }
