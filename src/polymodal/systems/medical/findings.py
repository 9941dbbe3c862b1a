"""CMIM of X-rays and reports: findings told from the image alone at test time (003, ch. 8).

Trained with images and their reports. The mutual information between places of the image, words of
its report and a bilinear embedding of both is raised. For research: not a medical device.
"""

from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import Positive, Weight
from polymodal.data.records import Dataset
from polymodal.nn.image_maps import BilinearEmbedding
from polymodal.nn.paired_places import rows_of, some_places
from polymodal.nn.report_encoder import ReportEncoder
from polymodal.systems.medical.cross_modal import JOINT, CrossModal
from polymodal.systems.medical.findings_settings import FindingsSettings, learn_findings
from polymodal.systems.medical.held_out_bounds import Bounds, held_out_bounds, saturated
from polymodal.systems.medical.information_settings import InformationSettings
from polymodal.systems.medical.teller import Teller
from polymodal.training.system import Scores

__all__ = ["Config", "build", "learn"]

BOUND_BLOCK = 16
"""Items of a batch in which the bounds are measured on held-out items."""


@dataclass(frozen=True, kw_only=True)
class Config(InformationSettings, FindingsSettings):
    """Encoders of images and reports, and the bounds between them. Not a medical device."""

    reads: Literal["both", "image"] = "both"
    """What is learned from: images with their reports, or images alone (the baseline)."""
    text_width: Positive[int] = 256
    """Feature maps of the report encoder."""
    text_blocks: Positive[int] = 3
    """Residual blocks of the report encoder."""
    embed_dim: Positive[int] = 256
    """Dimension of the bilinear embedding of image and report."""
    lambda_lg: Weight[float] = 0.1
    """Weight of the local–global bounds (eq. 8.3.3, 8.3.5)."""
    class_weight: Weight[float] = 1.0
    """Weight λ_C of the classification loss (eq. 8.3.5)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pairs != "modalities" or self.elsewhere:
            raise PolymodalError(
                "A word of a report is at no place of the image: each place is paired with a random word "
                "of its report. Leave out --pairs and --elsewhere."
            )
        self.check_teachers(["image", "text"])


def learn(config: Config, train: Dataset) -> dict[str, Any]:
    """What the systems of findings learn."""
    return learn_findings(config, train, reads=config.reads == "both")


@dataclass(frozen=True)
class Seen:
    """Features of the modalities of a batch, and which items have them."""

    local: dict[str, Tensor]
    whole: dict[str, Float[Tensor, "b _"]]
    there: Bool[Tensor, "b n"]


class Findings(Teller):
    """λ_C L_classif − λ_ll I_ll − λ_lg I_lg − λ_gg I_gg; the thesis prints λ_lg beside L_ll."""

    config: Config

    def __init__(self, config: Config, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        self.names = ["image", "text"] if config.reads == "both" else ["image"]
        widths = {"image": self.image.dim}
        if self.vocabulary is not None:
            self.text = ReportEncoder(
                words=len(self.vocabulary),
                dim=learned["word_dim"],
                width=config.text_width,
                blocks=config.text_blocks,
                frozen=self.words_are_fixed,
            )
            widths["text"] = self.text.dim
            if config.informed:
                self.both = BilinearEmbedding(self.image.dim, self.text.dim, config.embed_dim)
                whole = widths | {JOINT: self.both.dim}
                self.information = CrossModal(self.names, local=widths, whole=whole, config=config)
        self.heads = nn.ModuleDict(
            {name: nn.Linear(width, len(self.findings)) for name, width in widths.items()}
        )

    @property
    def embedding(self) -> nn.Embedding | None:
        return self.text.embed if self.vocabulary is not None else None

    def training_step(self, batch: Any, batch_idx: int) -> dict[str, Tensor]:
        """The loss of eq. 8.3.5."""
        seen = self.see(batch)
        loss = self.config.class_weight * self.class_loss(seen, batch)
        share = min(1.0, (self.global_step + 1) / max(1, self.config.lambda_warmup))
        for kind, bound in self.bounds(seen, batch).items():
            loss = loss - share * getattr(self.config, f"lambda_{kind}") * bound
        return {"loss": loss, "shown": loss.detach()}

    def see(self, batch: Any) -> Seen:
        """The local and global features of a batch."""
        maps = self.maps(batch)
        local, whole = {"image": maps}, {"image": maps.mean((2, 3))}
        if self.vocabulary is not None:
            local["text"] = self.text(batch.tokens, batch.lengths)
            whole["text"] = local["text"].amax(2)
        there = torch.stack([self.there(batch, name) for name in self.names], 1)
        return Seen(local, whole, there)

    def class_loss(self, seen: Seen, batch: Any) -> Float[Tensor, ""]:
        """The cross-entropy of the findings by each modality alone, over the items that have it."""
        known = self.there(batch, "targets")
        return torch.stack(
            [
                self.cross_entropy(self.heads[name](seen.whole[name]), batch.targets, own & known)
                for name, own in zip(self.names, seen.there.unbind(1), strict=True)
            ]
        ).mean()

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

    def evaluate(self, dataset: Dataset) -> Scores:
        """All scores of findings, and the bounds on held-out items."""
        found = super().evaluate(dataset)

        def bounds(batch: Any) -> Bounds:
            return [self.bounds(self.see(batch), batch)]

        return found | held_out_bounds(bounds, self.examples(dataset), BOUND_BLOCK, self.device)

    def symptoms(self, scores: Scores) -> list[str]:
        """A warning about saturated bounds."""
        advice = "Give more negatives (--others), or a smaller --lambda-ll or --lambda-lg."
        return saturated(self.config, scores, advice)

    def logits_of(self, batch: Any) -> dict[str, Float[Tensor, "b k"]]:
        """By the image, by the report, and by the mean of both logits (late fusion)."""
        seen = self.see(batch)
        found = {name: self.heads[name](seen.whole[name]) for name in self.names}
        if len(found) > 1:
            found["image+text"] = (found["image"] + found["text"]) / 2
        return found

    def image_logits(self, maps: Float[Tensor, "b c k l"]) -> Float[Tensor, "b f"]:
        found: Tensor = self.heads["image"](maps.mean((2, 3)))
        return found


def build(config: Config, learned: dict[str, Any]) -> Findings:
    """The model, given what `learn` found."""
    return Findings(config, learned)
