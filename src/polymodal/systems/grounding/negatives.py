"""Context-preserving negative captions: one noun replaced by a word that fits, but is not true (002, §2.4).

For a noun s in its context c the language model says how likely another word s' is without a look at
s, p(s'|c), and when it sees s, q(s'|s, c). A synonym or hypernym of s is likely both times; so the
words that are likely by p are ranked by p/q, and the last are left out.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from polymodal.base import files
from polymodal.base.errors import PolymodalError
from polymodal.base.progress import progress_bar
from polymodal.data.batches import Batch
from polymodal.data.caption_tokens import CaptionTokens
from polymodal.data.parts_of_speech import NOUN
from polymodal.data.tokens import Tokens
from polymodal.nn.language_models import LanguageModel

BLOCK = 64
"""Captions that are looked at together."""


@dataclass(frozen=True)
class Negatives(Batch):
    """For each of n captions the places of up to m nouns, and k tokens that make it false there."""

    places: Int[Tensor, "n m"]
    """-1 where a caption has fewer nouns."""
    tokens: Int[Tensor, "n m k"]
    """The best first; -1 where there are fewer."""


@dataclass(frozen=True)
class Candidates:
    """For j nouns the c words that are most likely in their place, the likeliest first."""

    tokens: Int[Tensor, "j c"]
    own: Int[Tensor, " j"]
    """The nouns themselves."""
    log_p: Float[Tensor, "j c"]
    """ln p(s'|c)."""
    log_q: Float[Tensor, "j c"]
    """ln q(s'|s, c)."""

    def order(self, rerank: bool) -> Int[Tensor, "j c"]:
        """Their places from the best negative to the worst: by p/q, or by p alone. The noun itself,
        with which the caption stays true, is last."""
        score = self.log_p - self.log_q if rerank else self.log_p
        score = score.masked_fill(self.tokens == self.own[:, None], -torch.inf)
        return score.argsort(dim=1, descending=True, stable=True)

    def kept(self, count: int, rerank: bool) -> Int[Tensor, "j k"]:
        """The best tokens, without the noun itself; -1 where there are fewer."""
        best = self.tokens.gather(1, self.order(rerank)[:, :count])
        best = best.masked_fill(best == self.own[:, None], -1)
        found = best.new_full((len(best), count), -1)
        found[:, : best.shape[1]] = best
        return found


def make_negatives(
    model: LanguageModel,
    captions: CaptionTokens,
    *,
    rerank: bool,
    candidates: int = 30,
    kept: int = 25,
    progress: bool = True,
) -> Negatives:
    """Negatives for every noun of captions that is one token, made once and kept in the cache.

    Args:
        model: a language model with a head, on the device where it computes.
        captions: as that model reads them.
        rerank: rank the candidates by p/q; otherwise by p alone.
        candidates: the likeliest words that are considered.
        kept: the best of them that are kept.
        progress: show a bar.
    """
    if not 0 < kept <= candidates:
        raise PolymodalError(
            f"Of {candidates} candidates 1 to {candidates} can be kept, not {kept}."
        )
    path = cache_path(model, captions, [rerank, candidates, kept])
    if path.is_file():
        return read(path)
    files.check_cache(path.parent)
    nouns = single_nouns(captions, model)
    most = int(nouns.sum(1).max()) if len(nouns) else 0
    places = torch.full((len(nouns), most), -1)
    tokens = torch.full((len(nouns), most, kept), -1)
    able = substitutes(model)
    having = nouns.any(1).nonzero()[:, 0]
    alike = having[captions.lengths[having].argsort()]  # in length, so that there is little padding
    with progress_bar("negative captions", len(having), shown=progress) as advance:
        for rows in alike.split(BLOCK) if len(alike) else ():
            here = nouns[rows]
            row, place = here.nonzero(as_tuple=True)
            found = candidates_of(
                model, captions.tokens[rows], captions.lengths[rows], here, able, candidates
            )
            column = (here.cumsum(1) - 1)[row, place]  # the first noun of a caption, the second, …
            places[rows[row], column] = place
            tokens[rows[row], column] = found.kept(kept, rerank).cpu()
            advance(len(rows))
    negatives = Negatives(places, tokens)
    write(path, negatives)
    return negatives


@torch.no_grad()
def candidates_of(
    model: LanguageModel,
    tokens: Int[Tensor, "b t"],
    lengths: Int[Tensor, " b"],
    nouns: Bool[Tensor, "b t"],
    able: Bool[Tensor, " v"],
    count: int,
) -> Candidates:
    """The words most likely in the place of each noun, caption by caption, with their p and q.

    Args:
        model: the language model.
        tokens: captions.
        lengths: theirs.
        nouns: which tokens are the nouns, at least one.
        able: which tokens can stand for one.
        count: how many words to consider for each.
    """
    training = model.training
    model.eval()
    wide = int(lengths.max())
    device = next(model.parameters()).device
    tokens, lengths, nouns = (x.to(device) for x in (tokens[:, :wide], lengths, nouns[:, :wide]))
    row, place = nouns.nonzero(as_tuple=True)
    alone = torch.zeros(len(row), wide, dtype=torch.bool, device=device)
    alone[torch.arange(len(row), device=device), place] = True
    masked = tokens[row].masked_fill(alone, model.description["mask"])
    log_p = model.logits_at(masked, lengths[row], alone).log_softmax(1)
    log_q = model.logits_at(tokens, lengths, nouns).log_softmax(1)
    model.train(training)
    best = log_p.masked_fill(~able.to(device), -torch.inf).topk(min(count, int(able.sum())), dim=1)
    return Candidates(best.indices, tokens[row, place], best.values, log_q.gather(1, best.indices))


def substitutes(model: LanguageModel) -> Bool[Tensor, " v"]:
    """Which tokens can stand for a noun: whole words that the model knows, and no special tokens."""
    names = Tokens.of(model.description).names
    found, whole = model.ordinary(), torch.tensor(whole_words(names))
    found[len(names) :] = False  # rows that fill up the vocabulary to a round number
    found[: len(names)] &= whole
    return found


def whole_words(names: Sequence[str]) -> list[bool]:
    """Which tokens are words of letters alone. Marks of punctuation, numbers and pieces of words are not:
    a piece fits only beside other pieces.

    >>> whole_words(["dog", "##s", ",", "7"]), whole_words(["Ġdog", "s", "Ġcat"])
    ([True, False, False, False], [True, False, True])
    """
    starts = [sum(name.startswith(mark) for name in names) for mark in "Ġ▁"]
    # where the tokenizer marks the starts of words and not their further pieces
    mark = "Ġ▁"[starts.index(max(starts))] if max(starts) > len(names) / 4 else ""
    return [name.startswith(mark) and name.removeprefix(mark).isalpha() for name in names]


def single_nouns(captions: CaptionTokens, model: LanguageModel) -> Bool[Tensor, "n t"]:
    """Which tokens are a noun by themselves, and one that the model knows."""
    words, edge = captions.words, captions.words.new_full((len(captions), 1), -1)
    before = torch.cat([edge, words[:, :-1]], 1)
    after = torch.cat([words[:, 1:], edge], 1)
    alone = (words >= 0) & (words != before) & (words != after)
    return alone & (captions.kinds == NOUN) & model.ordinary()[captions.tokens]


# The cache


def cache_path(model: LanguageModel, captions: CaptionTokens, settings: list[int]) -> Path:
    """Where negatives are kept: named after all that they depend on."""
    known = hashlib.sha256(str([1, *map(int, settings)]).encode())
    for tensor in (*model.state_dict().values(), *vars(captions).values()):
        known.update(str([tensor.dtype, *tensor.shape]).encode())
        known.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return files.cache_folder() / "negatives" / f"{known.hexdigest()[:32]}.safetensors"


def write(path: Path, negatives: Negatives) -> None:
    """Keep negatives."""
    from safetensors.torch import save

    files.write_bytes(path, save({k: v.int() for k, v in vars(negatives).items()}))


def read(path: Path) -> Negatives:
    """Negatives that were kept."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return Negatives(**{k: v.long() for k, v in load_file(path).items()})
    except (SafetensorError, TypeError) as error:
        raise PolymodalError(
            f"{path} is damaged ({error}). Delete it: it will be made again."
        ) from error
