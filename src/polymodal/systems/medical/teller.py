"""Base class of the systems that tell findings from images: everything but the network and its loss."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from polymodal.base.errors import PolymodalError
from polymodal.data.batches import ColumnExamples
from polymodal.data.groups import owners_of
from polymodal.data.records import Dataset
from polymodal.data.user_images import as_pictures
from polymodal.data.vocabulary import Vocabulary
from polymodal.data.word_vectors import read_word_vectors
from polymodal.metrics.auc import auc_scores
from polymodal.metrics.calibration import BINS
from polymodal.nn.augment import RandomCrop
from polymodal.nn.image_maps import ImageMaps
from polymodal.nn.learning_rates import adam
from polymodal.systems.medical.claimed_chances import errors_of_chances
from polymodal.systems.medical.findings_settings import LEARNED, FindingsSettings
from polymodal.systems.medical.report_examples import report_examples
from polymodal.training.system import Scores, System

BLOCK = 64
"""Items that are classified at once."""


class Teller(System):
    """An image encoder, what is known of the words, and the scores."""

    monitor = "auc_image"
    can = frozenset({"classify"})
    weights: Tensor

    def __init__(self, config: FindingsSettings, learned: dict[str, Any]) -> None:
        super().__init__()
        self.config, self.learned = config, learned
        self.findings: list[str] = learned["findings"]
        self.crop = RandomCrop(config.crop)
        self.image = ImageMaps(learned["image_encoder"], config.convnet_width)
        self.vocabulary: Vocabulary | None = None
        if "vocabulary" in learned:
            self.vocabulary = Vocabulary(tuple(learned["vocabulary"]))
        self.register_buffer("weights", torch.tensor(learned["weights"]), persistent=False)

    # What a system must have

    @abstractmethod
    def logits_of(self, batch: Any) -> dict[str, Float[Tensor, "b k"]]:
        """The logits of each finding by each set of modalities, such as image or image+text."""

    @abstractmethod
    def image_logits(self, maps: Float[Tensor, "b c k l"]) -> Float[Tensor, "b f"]:
        """The logits by the maps of an image alone."""

    @property
    def embedding(self) -> nn.Embedding | None:
        """The vectors of the words, where words are read."""
        return None

    def start(self, train: Dataset) -> None:
        """Take the weights of a pretrained image encoder, and the word vectors of a file."""
        self.image.load_pretrained()
        embedding = self.embedding
        if embedding is None or self.vocabulary is None or self.config.words == LEARNED:
            return
        vectors, _ = read_word_vectors(Path(self.config.words), self.vocabulary.words)
        with torch.no_grad():
            embedding.weight.copy_(torch.from_numpy(vectors))

    @property
    def words_are_fixed(self) -> bool:
        """Whether the word vectors are those of a file and stay so."""
        return self.config.words != LEARNED and not self.config.finetune_words

    # Training

    def examples(self, dataset: Dataset) -> ColumnExamples:
        return report_examples(dataset, self.vocabulary, self.config.most_words)

    def maps(self, batch: Any) -> Float[Tensor, "b c k l"]:
        """The maps of a batch's images."""
        found: Tensor = self.image(self.crop(batch.image))
        return found

    def there(self, batch: Any, name: str) -> Bool[Tensor, " b"]:
        """Which items have a modality, or targets."""
        everyone = torch.ones(len(batch.targets), dtype=torch.bool, device=batch.targets.device)
        found: Tensor = getattr(batch, f"{name}_present", everyone)
        return found

    def cross_entropy(
        self,
        logits: Float[Tensor, "b k"],
        targets: Float[Tensor, "b k"],
        counts: Bool[Tensor, " b"],
    ) -> Float[Tensor, ""]:
        """The mean binary cross-entropy of each finding, over the items that count."""
        each = binary_cross_entropy_with_logits(
            logits.float(),
            targets.float(),
            reduction="none",
            pos_weight=self.weights if self.config.balance else None,
        ).mean(1)
        return (each * counts).sum() / counts.sum().clamp(min=1)

    def configure_optimizers(self) -> Any:
        falls_over = self.clock.last if self.config.decay else None
        moving = [p for p in self.parameters() if p.requires_grad]
        return adam(moving, self.config.lr, falls_over=falls_over)

    # Scores

    def check(self, splits: Mapping[str, Dataset]) -> None:
        """Refuse held-out splits with other findings, or images of another size."""
        for dataset in splits.values():
            self.check_data(dataset)

    def check_data(self, dataset: Dataset) -> None:
        """Refuse data with other findings, or images of another size."""
        count = dataset.column("targets", "Classification").batch([0]).shape[1]
        if count != len(self.findings):
            raise PolymodalError(
                f"This model tells {len(self.findings)} findings, but these data have {count}. Give data "
                "with the findings of the training."
            )
        size = dataset.images([0]).shape[1]
        if size != self.learned["size"]:
            raise PolymodalError(
                f"This model takes pictures of {self.learned['size']}×{self.learned['size']}, but the "
                f"data are {size}×{size}. Add ',size={self.learned['size']}' to the data."
            )

    def validate(self, dataset: Dataset) -> Scores:
        """The AUC with images alone, that selects the weights."""
        found = self.scored(dataset, samples=0, only="image")
        if self.monitor not in found:
            raise PolymodalError(
                "Of no finding the validation split has both items with it and without it, so that no "
                "AUC can select the weights. Give more validation data."
            )
        return found

    def evaluate(self, dataset: Dataset) -> Scores:
        """The AUC of each finding and their mean with an interval over patients, by each set of
        modalities that the system can tell from."""
        return self.scored(dataset, samples=1000)

    def scored(self, dataset: Dataset, samples: int, only: str | None = None) -> Scores:
        """The scores by each set of modalities, each over the items that have all of it."""
        logits, there, targets = self.all_logits(dataset)
        owners = np.array(owners_of(dataset))
        found: Scores = {}
        for name, own in logits.items():
            rows = there[name]
            if rows.any() and only in (None, name):
                of_items = owners[rows].tolist()
                found |= auc_scores(
                    own[rows], targets[rows], self.findings, of_items, name, samples
                )
                found[f"items_{name}"] = float(rows.sum())
        if samples:
            found |= errors_of_chances(logits["image"], targets, there["image"], self.findings)
            counts = (targets > 0.5).sum(0)
            found |= {f"count_{k}": float(n) for k, n in zip(self.findings, counts, strict=True)}
        return found

    @torch.no_grad()
    def all_logits(
        self, dataset: Dataset
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], np.ndarray]:
        """The logits of each item by each set of modalities, which items have it and a truth, and
        what is true of them."""
        self.check_data(dataset)
        self.eval()
        found: dict[str, list[Tensor]] = {}
        there: dict[str, list[Tensor]] = {}
        targets = []
        for block in self.examples(dataset).blocks(size=BLOCK):
            batch = block.to(self.device)
            for name, own in self.logits_of(batch).items():
                has = self.there(batch, "targets")
                for modality in name.split("+"):
                    has = has & self.there(batch, modality)
                found.setdefault(name, []).append(own.float().cpu())
                there.setdefault(name, []).append(has.cpu())
            targets.append(batch.targets.cpu())
        return (
            {name: torch.cat(own).numpy() for name, own in found.items()},
            {name: torch.cat(own).numpy() for name, own in there.items()},
            torch.cat(targets).numpy(),
        )

    # Use

    @torch.no_grad()
    def classify(self, images: Sequence[Any]) -> list[dict[str, float]]:
        """The probability of each finding in each picture: paths, PIL images or arrays `h w 3` of
        uint8. Not a medical device; what the probabilities are worth depends on the training data."""
        if isinstance(images, str | Path) or not hasattr(images, "__len__"):
            raise PolymodalError("Give a list of pictures, such as ['xray.png'].")
        self.eval()
        found: list[dict[str, float]] = []
        for start in range(0, len(images), BLOCK):
            logits = self.image_logits(self.maps_of(images[start : start + BLOCK]))
            for row in logits.float().sigmoid().tolist():
                found.append(dict(zip(self.findings, row, strict=True)))
        return found

    def maps_of(self, images: Sequence[Any]) -> Float[Tensor, "b c k l"]:
        """The maps of a user's own pictures."""
        pixels = torch.from_numpy(as_pictures(list(images), self.learned["size"]))
        found: Tensor = self.image(self.crop(pixels.permute(0, 3, 1, 2).to(self.device)))
        return found

    def protocol(self) -> dict[str, Any]:
        return {
            "findings": ", ".join(self.findings),
            "auc": "mean over findings that some items have and some lack; ties count half",
            "ece": f"by the image, in percent, {BINS} bins of equal width",
            "interval": "95 %, 1,000 bootstrap samples of patients",
            "text": "where labels were taken from the report, it nearly contains them",
            "use": "research only, not a medical device",
        }
