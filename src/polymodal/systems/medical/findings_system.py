"""The system that tells findings from images, trained beside their reports (003, eq. 8.3.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from polymodal.data.scan_columns import subset_name, subsets
from polymodal.data.user_images import as_pictures
from polymodal.data.vocabulary import Vocabulary
from polymodal.data.word_vectors import read_word_vectors
from polymodal.metrics.auc import auc_scores
from polymodal.nn.augment import RandomCrop
from polymodal.nn.image_maps import BilinearEmbedding, ImageMaps
from polymodal.nn.learning_rates import adam
from polymodal.nn.paired_places import rows_of, some_places
from polymodal.nn.report_encoder import ReportEncoder
from polymodal.systems.medical.cross_modal import JOINT, CrossModal
from polymodal.systems.medical.findings_settings import LEARNED, Config
from polymodal.systems.medical.report_examples import report_examples
from polymodal.training.system import Scores, System

BLOCK = 64
"""Items that are classified at once."""


@dataclass(frozen=True)
class Seen:
    """Features of the modalities of a batch, and which items have them."""

    local: dict[str, Tensor]
    whole: dict[str, Float[Tensor, "b _"]]
    there: Bool[Tensor, "b n"]


class Findings(System):
    """λ_C L_classif − λ_ll I_ll − λ_lg I_lg − λ_gg I_gg; the thesis prints λ_lg beside L_ll."""

    monitor = "auc_image"
    can = frozenset({"classify"})

    def __init__(self, config: Config, learned: dict[str, Any]) -> None:
        super().__init__()
        self.config, self.learned = config, learned
        self.findings: list[str] = learned["findings"]
        self.names = ["image", "text"] if config.reads == "both" else ["image"]
        self.crop = RandomCrop(config.crop)
        self.image = ImageMaps(learned["image_encoder"], config.convnet_width)
        widths = {"image": self.image.dim}
        self.vocabulary: Vocabulary | None = None
        if config.reads == "both":
            self.vocabulary = Vocabulary(tuple(learned["vocabulary"]))
            self.text = ReportEncoder(
                words=len(self.vocabulary),
                dim=learned["word_dim"],
                width=config.text_width,
                blocks=config.text_blocks,
                frozen=config.words != LEARNED and not config.finetune_words,
            )
            widths["text"] = self.text.dim
            if config.informed:
                self.both = BilinearEmbedding(self.image.dim, self.text.dim, config.embed_dim)
                self.information = CrossModal(
                    self.names,
                    local=widths,
                    whole=widths | {JOINT: self.both.dim},
                    config=config,
                )
        self.heads = nn.ModuleDict(
            {name: nn.Linear(width, len(self.findings)) for name, width in widths.items()}
        )
        self.register_buffer("weights", torch.tensor(learned["weights"]), persistent=False)
        self.weights: Tensor

    def start(self, train: Dataset) -> None:
        """Take the weights of a pretrained image encoder, and the word vectors of a file."""
        self.image.load_pretrained()
        if self.vocabulary is not None and self.config.words != LEARNED:
            vectors, _ = read_word_vectors(Path(self.config.words), self.vocabulary.words)
            with torch.no_grad():
                self.text.embed.weight.copy_(torch.from_numpy(vectors))

    # Training

    def examples(self, dataset: Dataset) -> ColumnExamples:
        return report_examples(dataset, self.vocabulary, self.config.most_words)

    def training_step(self, batch: Any, batch_idx: int) -> dict[str, Tensor]:
        """The loss of eq. 8.3.5."""
        seen = self.see(batch)
        known = getattr(batch, "targets_present", torch.ones_like(seen.there[:, 0]))
        loss = self.config.class_weight * self.class_loss(seen, batch.targets, known)
        for kind, bound in self.bounds(seen, batch).items():
            share = min(1.0, (self.global_step + 1) / max(1, self.config.lambda_warmup))
            loss = loss - share * getattr(self.config, f"lambda_{kind}") * bound
        return {"loss": loss, "shown": loss.detach()}

    def see(self, batch: Any) -> Seen:
        """The local and global features of a batch."""
        maps = self.image(self.crop(batch.image))
        local, whole = {"image": maps}, {"image": maps.mean((2, 3))}
        everyone = torch.ones(len(maps), dtype=torch.bool, device=maps.device)
        there = [getattr(batch, "image_present", everyone)]
        if self.vocabulary is not None:
            local["text"] = self.text(batch.tokens, batch.lengths)
            whole["text"] = local["text"].amax(2)
            there.append(batch.text_present)
        return Seen(local, whole, torch.stack(there, 1))

    def class_loss(
        self, seen: Seen, targets: Float[Tensor, "b k"], known: Bool[Tensor, " b"]
    ) -> Float[Tensor, ""]:
        """The mean cross-entropy of each finding, by each modality alone, over the items that have it."""
        weights = self.weights if self.config.balance else None
        losses = []
        for name, there in zip(self.names, seen.there.unbind(1), strict=True):
            each = binary_cross_entropy_with_logits(
                self.heads[name](seen.whole[name]).float(),
                targets.float(),
                reduction="none",
                pos_weight=weights,
            ).mean(1)
            counts = there & known
            losses.append((each * counts).sum() / counts.sum().clamp(min=1))
        return torch.stack(losses).mean()

    def bounds(self, seen: Seen, batch: Any) -> dict[str, Float[Tensor, ""]]:
        """The bound of each kind, in nats. Each place of an image is beside a random word of its report:
        so all pairs of places and words are true in the mean, without b·p·t scores."""
        if not hasattr(self, "information"):
            return {}
        image = rows_of(seen.local["image"])
        places = some_places(image.shape[1], self.config.most_places, image.device)
        image = image if places is None else image[:, places]
        words = rows_of(seen.local["text"])
        chosen = torch.rand(image.shape[:2], device=image.device) * batch.lengths[:, None]
        chosen = chosen.long().clamp(max=words.shape[1] - 1)
        words = words.gather(1, chosen[..., None].expand(-1, -1, words.shape[2]))
        whole = seen.whole | {JOINT: self.both(seen.whole["image"], seen.whole["text"])}
        # the embedding of both is of those items alone that have both
        there = torch.where(seen.there.all(1, keepdim=True), seen.there, False)
        found: dict[str, Tensor] = self.information(
            {"image": image, "text": words},
            {name: rows_of(own) for name, own in whole.items()},
            there,
        )
        return found

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
        found = self.scored(dataset, [("image",)], samples=0)
        if self.monitor not in found:
            raise PolymodalError(
                "Of no finding the validation split has both items with it and without it, so that no "
                "AUC can select the weights. Give more validation data."
            )
        return found

    def evaluate(self, dataset: Dataset) -> Scores:
        """The AUC of each finding and their mean with an interval over patients, by the image, by the
        report, and by the mean of both logits."""
        return self.scored(dataset, subsets(self.names), samples=1000)

    def scored(self, dataset: Dataset, wanted: Sequence[tuple[str, ...]], samples: int) -> Scores:
        """The scores of some subsets, each over the items that have all of it."""
        logits, there, targets = self.logits(dataset)
        owners = np.array(owners_of(dataset))
        found: Scores = {}
        for names in wanted:
            places = [self.names.index(name) for name in names]
            rows = there[:, places].all(1)
            own = logits[rows][:, places].mean(1)
            name = subset_name(names)
            if rows.any():
                of_items = owners[rows].tolist()
                found |= auc_scores(own, targets[rows], self.findings, of_items, name, samples)
                found[f"items_{name}"] = float(rows.sum())
        counts = (targets > 0.5).sum(0)
        if samples:
            found |= {f"count_{k}": float(n) for k, n in zip(self.findings, counts, strict=True)}
        return found

    @torch.no_grad()
    def logits(self, dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The logits of each item by each modality, which of them it has, and what is true of it."""
        self.check_data(dataset)
        self.eval()
        found, there, targets = [], [], []
        for block in self.examples(dataset).blocks(size=BLOCK):
            batch = block.to(self.device)
            seen = self.see(batch)
            each = [self.heads[name](seen.whole[name]).float() for name in self.names]
            found.append(torch.stack(each, 1).cpu())
            known = getattr(batch, "targets_present", torch.ones_like(seen.there[:, 0]))
            there.append((seen.there & known[:, None]).cpu())
            targets.append(batch.targets.cpu())
        return tuple(torch.cat(own).numpy() for own in (found, there, targets))  # type: ignore[return-value]

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
            part = as_pictures(list(images[start : start + BLOCK]), self.learned["size"])
            pixels = torch.from_numpy(part).permute(0, 3, 1, 2).to(self.device)
            logits = self.heads["image"](self.image(self.crop(pixels)).mean((2, 3)))
            for row in logits.float().sigmoid().tolist():
                found.append(dict(zip(self.findings, row, strict=True)))
        return found

    def protocol(self) -> dict[str, Any]:
        return {
            "findings": ", ".join(self.findings),
            "auc": "mean over findings that some items have and some lack; ties count half",
            "interval": "95 %, 1,000 bootstrap samples of patients",
            "text": "where labels were taken from the report, it nearly contains them",
            "use": "research only, not a medical device",
        }
