"""TieNet: findings from an image and the report that the model writes of it (Wang et al., 2018).

The baseline of 003, §8.4.4. The report is read in training and written at test time; its attended
text and the places of the image that it looked at tell the findings. For research: not a medical device.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from polymodal.base.ranges import Positive, Share
from polymodal.data.records import Dataset
from polymodal.nn.paired_places import rows_of
from polymodal.nn.report_writer import ReportWriter, Written
from polymodal.systems.medical.findings_settings import FindingsSettings, learn_findings
from polymodal.systems.medical.teller import Teller

__all__ = ["Config", "build", "learn"]


@dataclass(frozen=True, kw_only=True)
class Config(FindingsSettings):
    """An image encoder and a network that writes reports. Not a medical device."""

    hidden: Positive[int] = 256
    """Units of the LSTM."""
    attentions: Positive[int] = 5
    """Attentions to the words of the report."""
    class_share: Share[float] = 0.85
    """Weight α of the classification loss; the report's words have the rest."""


def learn(config: Config, train: Dataset) -> dict[str, Any]:
    """What the systems of findings learn."""
    return learn_findings(config, train, reads=True)


class TieNet(Teller):
    """α L_C + (1 − α) L_R."""

    config: Config

    def __init__(self, config: Config, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        self.writer = ReportWriter(
            words=len(learned["vocabulary"]),
            dim=learned["word_dim"],
            maps=self.image.dim,
            hidden=config.hidden,
            frozen=self.words_are_fixed,
        )
        self.attend = nn.Sequential(
            nn.Linear(config.hidden, config.hidden),
            nn.Tanh(),
            nn.Linear(config.hidden, config.attentions),
        )
        self.head = nn.Linear(config.hidden + self.image.dim, len(self.findings))

    @property
    def embedding(self) -> nn.Embedding | None:
        return self.writer.embed

    def training_step(self, batch: Any, batch_idx: int) -> dict[str, Tensor]:
        """Of items with a report alone: without one there is nothing to attend to."""
        places = rows_of(self.maps(batch))
        written = self.writer(places, batch.tokens, batch.lengths)
        counts = self.there(batch, "text") & self.there(batch, "image")
        known = counts & self.there(batch, "targets")
        told = self.cross_entropy(self.tell(places, written), batch.targets, known)
        each = self.report_loss(written, batch.tokens)
        report = (each * counts).sum() / counts.sum().clamp(min=1)
        share = self.config.class_share
        loss = share * told + (1 - share) * report
        return {"loss": loss, "shown": loss.detach()}

    def report_loss(self, written: Written, tokens: Tensor) -> Float[Tensor, " b"]:
        """Minus the mean log-probability of each report's words."""
        count = written.there.shape[1]
        after = tokens[:, 1 : count + 1]
        losses = cross_entropy(written.logits.float().mT, after, reduction="none")
        return (losses * written.there).sum(1) / written.there.sum(1)

    def tell(self, places: Float[Tensor, "b p c"], written: Written) -> Float[Tensor, "b k"]:
        """The logits by the attended text (AETE) and the places that it looked at (SW-GAP)."""
        asked = self.attend(written.states).masked_fill(~written.there[..., None], -torch.inf)
        weights = asked.softmax(1)  # of each attention, over the words
        text = torch.einsum("btr,bth->brh", weights, written.states).amax(1)
        salient = torch.einsum("bt,btp->bp", weights.amax(2), written.looks)
        image = torch.einsum("bp,bpc->bc", salient, places)
        found: Tensor = self.head(torch.cat([text, image], 1))
        return found

    def logits_of(self, batch: Any) -> dict[str, Float[Tensor, "b k"]]:
        """By the image and the report that is written of it, and by the image and the true report."""
        maps = self.maps(batch)
        places = rows_of(maps)
        read = self.writer(places, batch.tokens, batch.lengths)
        return {"image": self.image_logits(maps), "image+text": self.tell(places, read)}

    def image_logits(self, maps: Float[Tensor, "b c k l"]) -> Float[Tensor, "b f"]:
        places = rows_of(maps)
        _, written = self.writer.write(places, self.config.most_words)
        return self.tell(places, written)

    @torch.no_grad()
    def report(self, images: list[Any]) -> list[str]:
        """The reports that it writes of pictures."""
        self.eval()
        tokens, _ = self.writer.write(rows_of(self.maps_of(images)), self.config.most_words)
        vocabulary = self.vocabulary
        return [vocabulary.decode(row) for row in tokens.tolist()] if vocabulary else []


def build(config: Config, learned: dict[str, Any]) -> TieNet:
    """The model, given what `learn` found."""
    return TieNet(config, learned)
