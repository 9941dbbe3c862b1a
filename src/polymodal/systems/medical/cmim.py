"""CMIM: segmentation trained with all modalities, for any of them at test time (003, ch. 8).

An encoder for each modality, and one decoder for the mean of what is present. The mutual information
between the maps of different modalities of one image is raised, so that each keeps what the others
know. For research: not a medical device.
"""

from dataclasses import dataclass
from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor, nn

from polymodal.base.errors import PolymodalError
from polymodal.data.records import Dataset
from polymodal.nn.modality_fusion import mean
from polymodal.nn.paired_places import rows_of, some_places
from polymodal.systems.medical.cross_modal import JOINT, CrossModal
from polymodal.systems.medical.fused import Fused, Levels
from polymodal.systems.medical.held_out_bounds import Bounds, held_out_bounds, saturated
from polymodal.systems.medical.information_settings import InformationSettings
from polymodal.systems.medical.scan_model import Scans
from polymodal.systems.medical.segmenter_settings import Settings
from polymodal.systems.medical.segmenter_settings import learn as learn_scans
from polymodal.training.system import Scores

__all__ = ["Config", "build", "learn"]


@dataclass(frozen=True, kw_only=True)
class Config(InformationSettings, Settings):
    """A U-Net for any subset of modalities, and the bounds between them. Not a medical device."""

    layers: tuple[int, ...] = (-1,)
    """Levels of the U-Net whose maps are local features Λ: 0 is the finest, -1 the coarsest."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.layers or not all(-self.levels <= n < self.levels for n in self.layers):
            raise PolymodalError(
                f"--layers are levels of the U-Net, from {-self.levels} to {self.levels - 1}, one at "
                f"least; found {', '.join(map(str, self.layers)) or 'none'}."
            )


def learn(config: Config, train: Dataset) -> dict[str, Any]:
    """What every segmentation learns; there must be modalities to tell of each other."""
    found = learn_scans(config, train)
    names = found["modalities"]
    if config.informed and len(names) < 2:
        raise PolymodalError(
            f"Information is between modalities, but there is only {names[0]}. Give more of them, or "
            "--lambda-ll 0 --lambda-lg 0 --lambda-gg 0."
        )
    config.check_teachers(names)
    return found


class CMIM(Fused):
    """L = λ_S L_seg − λ_ll I_ll − λ_lg I_lg − λ_gg I_gg (003, eq. 8.3.6)."""

    config: Config

    def __init__(self, config: Config, learned: dict[str, Any]) -> None:
        super().__init__(config, learned)
        everyone = [*self.names, JOINT]
        deepest = dict.fromkeys(everyone, self.widths[-1])
        self.information = nn.ModuleList(
            CrossModal(
                self.names,
                local=dict.fromkeys(everyone, self.widths[layer]),
                whole=deepest,
                config=config,
            )
            for layer in (config.layers if config.informed else ())
        )

    def beside(
        self, encoded: Levels, scans: Scans, there: Bool[Tensor, "b n"], whole: bool
    ) -> Float[Tensor, ""] | float:
        """Minus the bounds, each with its weight; the mean over the layers."""
        bounds = self.bounds(encoded, there, whole)
        share = min(1.0, (self.global_step + 1) / max(1, self.config.lambda_warmup))
        return -share * sum(
            getattr(self.config, f"lambda_{kind}") * bound / len(self.information)
            for own in bounds
            for kind, bound in own.items()
        )

    def bounds(
        self, encoded: Levels, there: Bool[Tensor, "b n"], whole: bool
    ) -> list[dict[str, Float[Tensor, ""]]]:
        """Each kind's bound at each layer, in nats."""
        present = None if whole else there
        pooled = encoded.maps[-1].flatten(3).mean(3)
        globals_ = self.named(pooled, there)
        found = []
        for layer, information in zip(self.config.layers, self.information, strict=False):
            maps = encoded.maps[layer].flatten(3)
            places = some_places(maps.shape[3], self.config.most_places, maps.device)
            local = self.named(maps if places is None else maps[..., places], there)
            found.append(information(local, globals_, present))
        return found

    def validate(self, dataset: Dataset) -> Scores:
        """Dice with the subsets that select the weights, and the bounds on held-out items."""
        return super().validate(dataset) | self.held_out_bounds(dataset)

    def evaluate(self, dataset: Dataset) -> Scores:
        """All scores of a segmentation, and the bounds on held-out items."""
        return super().evaluate(dataset) | self.held_out_bounds(dataset)

    def held_out_bounds(self, dataset: Dataset) -> Scores:
        """Each kind's bound in nats on some items of a split."""
        if not len(self.information):
            return {}
        self.eval()

        def bounds(batch: Any) -> Bounds:
            given, there, whole = self.scans(batch)
            given, _ = self.cut(given, self.truth(batch.mask))
            return self.bounds(self.encode(given), there, whole)

        block = max(2, self.block(dataset))
        return held_out_bounds(bounds, self.examples(dataset), block, self.device)

    def symptoms(self, scores: Scores) -> list[str]:
        """A warning about modalities with which nothing is found, and about saturated bounds."""
        more = "more" if self.config.elsewhere else "some"
        advice = (
            f"Give {more} negatives from the same image (--elsewhere) or finer maps (--layers)."
        )
        return super().symptoms(scores) + saturated(self.config, scores, advice)

    def named(self, maps: Tensor, there: Bool[Tensor, "b n"]) -> dict[str, Tensor]:
        """Features of each modality and of all together, their places in rows."""
        found = {name: rows_of(own) for name, own in zip(self.names, maps.unbind(1), strict=True)}
        return found | {JOINT: rows_of(mean(maps, there[None])[0])}


def build(config: Config, learned: dict[str, Any]) -> CMIM:
    """The model, given what `learn` found."""
    return CMIM(config, learned)
