"""The model of grounding in training and in evaluation."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.base.files import fingerprint
from polymodal.base.ranges import check_count
from polymodal.data.caption_tokens import CaptionTokens, read_captions
from polymodal.data.records import Caption, Dataset, Phrase
from polymodal.maths.boxes import areas
from polymodal.nn.image_encoders import Standardised
from polymodal.nn.language_models import LanguageModel
from polymodal.nn.regions import portable
from polymodal.nn.word_region_attention import (
    Regions,
    WordRegionAttention,
    Words,
    across,
    within,
)
from polymodal.systems.grounding.grounded import Grounded, grounded, noun_phrases
from polymodal.systems.grounding.grounding_batches import GroundingBatch, GroundingExamples
from polymodal.systems.grounding.grounding_losses import image_loss, word_loss
from polymodal.systems.grounding.grounding_scores import all_scores, entropy, selection_scores
from polymodal.systems.grounding.negatives import Negatives, make_negatives
from polymodal.systems.grounding.photo_regions import regions_of_photo
from polymodal.systems.grounding.phrase_attention import most_attended, of_phrases, telling
from polymodal.systems.grounding.phrases import tokens_of
from polymodal.systems.grounding.questions import asked, unknown_words
from polymodal.systems.grounding.region_columns import known_regions
from polymodal.systems.grounding.split_attention import (
    BLOCK,
    Prepared,
    mean_bound,
    of_owners,
    prepare,
)
from polymodal.systems.grounding.substitutes import chosen_nouns, random_words, substituted
from polymodal.training.system import Scores, System


class Grounding(System):
    """Word–region attention over a language model's words and an image's proposals."""

    can = frozenset({"ground"})
    trained_words: Tensor
    """Whether the language model was trained before, and is used as it is."""

    def __init__(
        self,
        *,
        config: Any,
        learned: dict[str, Any],
        words: LanguageModel,
        attention: WordRegionAttention,
    ) -> None:
        super().__init__()
        self.config, self.learned = config, learned
        self.monitor = config.select
        self.words, self.attention = words, attention
        self.standardised = Standardised(torch.nn.Identity(), learned["region_width"])
        self.register_buffer("trained_words", torch.tensor(False))
        self.latest: tuple[str, Prepared] | None = None

    # Before training

    def start(self, train: Dataset) -> None:
        """Take the language model's weights, and the moments of the regions' features."""
        if self.learned["words"]["source"] is not None and not self.config.random_words:
            self.words.load_pretrained()
            self.freeze_words()
        features = known_regions(train, self.learned).column("proposal_features")
        self.standardised.fit(torch.tensor(features.mean), torch.tensor(features.std))

    def take(self, part: str, weights: dict[str, Tensor], learned: dict[str, Any]) -> None:
        """Take the language model of a run of `mlm` that read the same words; it stays as it is."""
        if part == "words":
            if fingerprint(learned.get("words")) != fingerprint(
                self.learned["words"]
            ):  # one is JSON
                raise PolymodalError(
                    "--parts words names a run whose language model has other words or another shape. "
                    "Train it on the same data, with the same settings of the language model."
                )
            weights = {name.removeprefix("words."): value for name, value in weights.items()}
        super().take(part, weights, learned)
        if part == "words":
            self.freeze_words()

    def freeze_words(self) -> None:
        """Keep a trained language model as it is."""
        self.words.freeze()
        self.trained_words.fill_(True)

    def examples(self, dataset: Dataset) -> GroundingExamples:
        split = prepare(dataset, self.learned)
        return GroundingExamples(
            split.dataset, split.captions, split.owner, self.negatives(split.captions)
        )

    @property
    def kind_of_negatives(self) -> str:
        """The negative captions that it is trained with."""
        if self.config.negatives != "auto":
            return str(self.config.negatives)
        return "reranked" if self.trained_words else "none"

    def negatives(self, captions: CaptionTokens) -> Negatives | None:
        """Substitutes for the nouns of captions, where a language model is to find them (002, §2.4)."""
        kind = self.kind_of_negatives
        if kind in ("none", "random"):
            return None
        if not self.trained_words:
            raise PolymodalError(
                f"--negatives {kind} needs a trained language model. Train one (polymodal train mlm "
                "--data DATA --run runs/words) and give it as --parts words=runs/words, name one as "
                "--words, or choose --negatives none."
            )
        return make_negatives(
            self.words,
            captions,
            rerank=kind == "reranked",
            candidates=self.config.candidates,
            kept=self.config.kept,
        )

    def check(self, splits: Mapping[str, Dataset]) -> None:
        """Refuse data whose boxes are to select the weights, but are not known."""
        if self.config.select == "bound":
            return
        for name, split in splits.items():
            if "regions" not in split.columns:
                raise PolymodalError(
                    f"--select {self.config.select} needs boxes, but the split {name} does not say where "
                    "anything is. Train with --select bound, which needs none, or give data with boxes, "
                    "such as scenes or flickr30k:PATH."
                )

    # Training

    def training_step(self, batch: GroundingBatch, batch_idx: int) -> dict[str, Tensor]:
        """L_img over nouns and adjectives, and L_lang over one noun a caption (002, eq. 8, 9)."""
        regions = self.regions_of(batch.features, batch.boxes)
        states = self.words.states(batch.tokens, batch.lengths)
        pair, place = (batch.kinds > 0).nonzero(as_tuple=True)
        false = substituted(self.words, batch, states)
        every = [states[pair, place], *([false.states.flatten(0, 1)] if false else [])]
        words = self.attention.words(torch.cat(every))
        n = len(pair)
        scores, _ = across(Words(words.query[:n], words.value[:n]), regions)
        loss = image_loss(scores, pair, batch.owner).sum() / len(batch)
        weight = self.config.word_weight
        if false:
            shape = false.there.shape
            query, value = (x[n:].unflatten(0, shape) for x in (words.query, words.value))
            fits, _ = within(Words(query, value), regions)
            loss = loss + weight * word_loss(fits, false.there)
        elif self.kind_of_negatives == "random":
            noun = chosen_nouns(batch.kinds, pair, place)
            others = random_words(scores, noun, batch.owner, self.config.kept)
            loss = loss + weight * word_loss(*others)
        return {"loss": loss, "shown": loss.detach()}

    def regions_of(
        self, features: Float[Tensor, "b r f"], boxes: Float[Tensor, "b r 4"]
    ) -> Regions:
        """Keys and values of proposals."""
        return self.attention.regions(self.standardised(features.float()), areas(boxes) > 0)

    def configure_optimizers(self) -> Any:
        moving = [p for p in self.parameters() if p.requires_grad]
        return torch.optim.Adam(moving, lr=self.config.lr)

    # Scores

    def validate(self, dataset: Dataset) -> Scores:
        """The bound on held-out data and, where phrases have boxes, recalls and pointing accuracy."""
        return self.scored(self.prepared(dataset), selection_scores)

    def evaluate(self, dataset: Dataset) -> Scores:
        """The same, also by type of phrase and with the union of true boxes; what needs no model; and how
        well the entropy of attention predicts errors."""
        return self.scored(self.prepared(dataset), all_scores)

    def scored(self, split: Prepared, score: Any) -> Scores:
        """The bound, and the scores of phrases where the data say where anything is."""
        bound, attention = self.attend(split)
        if split.phrases is None:
            return {"bound": bound}
        proposals = split.proposals()[split.owner[split.phrases.caption]]
        return {"bound": bound, **score(split.phrases, attention, proposals)}

    def prepared(self, dataset: Dataset) -> Prepared:
        """A split as it is needed for scores; the latest is kept for the next validation."""
        key = (
            f"{dataset.fingerprint} {id(dataset.columns.get('proposals'))}"  # which is kept with it
        )
        if self.latest is None or self.latest[0] != key:
            self.latest = key, prepare(dataset, self.learned)
        return self.latest[1]

    @torch.no_grad()
    def attend(self, split: Prepared) -> tuple[float, Float[Tensor, "p r"]]:
        """The bound on a split, and what each phrase attends to: of its tokens, the most (002, §2.5)."""
        self.eval()
        losses, found = [], []
        images = min(BLOCK, len(split.dataset))
        for block, rows in split.blocks():
            features, boxes = (
                split.batch(name, block).to(self.device)
                for name in ("proposal_features", "proposals")
            )
            regions = self.regions_of(features, boxes)
            owner = (split.owner[rows] - block.start).to(self.device)
            kinds = split.captions.kinds[rows].to(self.device)
            words = self.words_of(split.captions, rows)
            pair, place = (kinds > 0).nonzero(as_tuple=True)
            if len(block) == images:  # fewer images would be told apart too easily
                said = Words(words.query[pair, place], words.value[pair, place])
                known = torch.arange(len(block), device=self.device)
                losses.append(image_loss(across(said, regions)[0], owner[pair], known).cpu())
            if split.phrases is not None:
                _, logits = within(words, of_owners(regions, owner))
                attention = logits.softmax(-1).cpu()
                told = self.config.phrase
                found.append(of_phrases(attention, split.phrases, split.captions, rows, told))
        return mean_bound(losses, images), torch.cat(found) if found else torch.empty(0, 0)

    def words_of(self, captions: CaptionTokens, rows: slice) -> Words:
        """Queries and values of all tokens of some captions."""
        tokens, lengths = captions.tokens[rows], captions.lengths[rows]
        states = self.words.states(tokens.to(self.device), lengths.to(self.device))
        words = self.attention.words(states.flatten(0, 1))
        shape = states.shape[:2]
        return Words(words.query.unflatten(0, shape), words.value.unflatten(0, shape))

    # Use

    def ground(
        self,
        image: Any,
        caption: str,
        *,
        boxes: Any = None,
        finder: str | None = None,
        first: int = 3,
    ) -> Grounded:
        """Where the phrases of a caption are in a picture.

        Args:
            image: a path, a PIL image or an array.
            caption: what is said of it. Its phrases are those in square brackets, where there are some,
                otherwise its nouns with their adjectives.
            boxes: boxes to choose among: x0, y0, x1, y1 in pixels of the picture.
            finder: what finds boxes, if not what found those that it was trained with.
            first: how many boxes of each phrase to give.
        """
        check_count("first", first, "how many boxes of each phrase are given")
        text, phrases = asked(caption, self.learned["words"])
        device = str(self.device)
        photo, (found, features) = regions_of_photo(
            image, self.learned, boxes=boxes, finder=finder, device=device
        )
        inside, outside = torch.from_numpy(found), torch.from_numpy(photo.outside(found))
        return self.attended(text, phrases, inside, torch.from_numpy(features), outside, first)

    def ground_record(
        self, dataset: Dataset, image: int, caption: Caption, first: int = 3
    ) -> Grounded:
        """The same for a caption of a dataset, among the proposals of its image."""
        one = known_regions(dataset, self.learned)
        boxes, features = (
            torch.from_numpy(one.column(name, "Grounding").batch([image])[0]).float()
            for name in ("proposals", "proposal_features")
        )
        real = areas(boxes) > 0
        return self.attended(
            caption.text, caption.phrases, boxes[real], features[real], boxes[real], first
        )

    @torch.no_grad()
    def attended(
        self,
        text: str,
        phrases: Sequence[Phrase],
        boxes: Float[Tensor, "r 4"],
        features: Float[Tensor, "r f"],
        shown: Float[Tensor, "r 4"],
        first: int,
    ) -> Grounded:
        """The regions of phrases, or of the nouns of a text that has none; boxes are given as `shown`."""
        self.eval()
        captions = read_captions([text], self.learned["words"])
        phrases = phrases or noun_phrases(text, captions)
        regions = self.regions_of(features.to(self.device)[None], boxes.to(self.device)[None])
        _, logits = within(self.words_of(captions, slice(0, 1)), regions)
        of = torch.zeros(len(phrases), dtype=torch.long)
        tokens = tokens_of(captions, of, phrases)
        told = telling(tokens, captions.kinds[of], self.config.phrase)
        attention = most_attended(logits.softmax(-1).cpu()[of], told)
        strange = unknown_words(text, captions, self.learned["words"])
        return grounded(text, phrases, attention, entropy(attention), shown, first, strange)

    def protocol(self) -> dict[str, Any]:
        return {
            "overlap": "IoU of 0.5 or more with any true box; _union: with the box around them",
            "phrase": f"maximum over {self.config.phrase} tokens",
            "proposals": portable(self.learned["regions"]),
            "negatives": self.kind_of_negatives,
            "ties": "against the model",
        }
