"""Base class of the segmentation systems: how they are trained and scored."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from polymodal.base.errors import PolymodalError
from polymodal.data.batches import ColumnExamples, examples_of
from polymodal.data.groups import owners_of
from polymodal.data.records import Dataset
from polymodal.data.scan_columns import scan_names, subset_name, subsets
from polymodal.metrics.segmentation import PatientScores
from polymodal.nn.learning_rates import adam
from polymodal.nn.scan_augment import Moving, moved
from polymodal.nn.scan_patches import patches
from polymodal.systems.medical.scan_model import ScanModel, Scans
from polymodal.systems.medical.segmentation import WHOLE, chances_of, window_of
from polymodal.systems.medical.segmentation_losses import segmentation_loss
from polymodal.systems.medical.training_subsets import training_subsets
from polymodal.training.system import Scores

JOINT_SCORES = ("dice_alone", "dice_mean", "dice_all")
"""Scores of several subsets, and another name of the last."""

BLOCK = 16
"""Items that are segmented at once."""


class Segmenter(ScanModel):
    """A network that segments, trained and scored."""

    def beside(
        self, encoded: Any, scans: Scans, there: Bool[Tensor, "b n"], whole: bool
    ) -> Float[Tensor, ""] | float:
        """What is added to the segmentation loss; `whole` where no item lacks a modality."""
        return 0.0

    # Training

    def examples(self, dataset: Dataset) -> ColumnExamples:
        scan_names(dataset, self.names, "Segmentation")
        return examples_of(dataset, *self.names, "mask", whom="Segmentation")

    def training_step(self, batch: Any, batch_idx: int) -> dict[str, Tensor]:
        """λ_S L_seg, and what the system adds to it (003, eq. 8.3.6)."""
        scans, there, whole = self.scans(batch)
        scans, truth = self.cut(scans, self.truth(batch.mask))
        if self.config.augment:
            scans, truth = moved(scans, truth, Moving())
        known = getattr(batch, "mask_present", None)
        encoded = self.encode(scans)
        warm = self.global_step < self.config.curriculum
        chosen = training_subsets(there, self.config.learn_from, warm)
        counts = chosen.any(-1) if known is None else chosen.any(-1) & known
        logits = self.decode(encoded, chosen)
        repeated = truth.repeat(len(chosen), *[1] * self.dims)
        seg = segmentation_loss(logits, repeated, counts.flatten(), self.config.dice_weight)
        loss = self.config.seg_weight * seg + self.beside(encoded, scans, there, whole)
        return {"loss": loss, "shown": loss.detach()}

    def cut(
        self, scans: Scans, truth: Int[Tensor, "b *grid"]
    ) -> tuple[list[Float[Tensor, "b _ *patch"]], Int[Tensor, "b *patch"]]:
        """Patches of items, or the items where --patch is not given."""
        if self.config.patch is None:
            return scans, truth
        return patches(scans, truth, self.config.patch, self.config.foreground)

    def scans(self, batch: Any) -> tuple[Scans, Bool[Tensor, "b n"], bool]:
        """The standardised scans of a batch, which of them there are, and whether that is all."""
        scans, there = [], []
        for name in self.names:
            scan = getattr(batch, name)
            scans.append(self.standardised(name, scan.float()))
            known = getattr(batch, f"{name}_present", None)
            there.append(
                known
                if known is not None
                else torch.ones(len(scan), dtype=torch.bool, device=scan.device)
            )
        whole = not any(hasattr(batch, f"{name}_present") for name in self.names)
        return scans, torch.stack(there, 1), whole

    def truth(self, mask: Shaped[Tensor, "b *grid"]) -> Int[Tensor, "b *grid"]:
        """The class of each place, from the labels of a mask."""
        if self.learned["target"]:
            target = torch.tensor(self.learned["target"], device=mask.device)
            return torch.isin(mask, target).long()
        labels = torch.tensor(self.learned["labels"], device=mask.device)
        return torch.searchsorted(labels, mask.long())

    def configure_optimizers(self) -> Any:
        falls_over = self.clock.last if self.config.decay else None
        return adam(self.parameters(), self.config.lr, falls_over=falls_over)

    # Scores

    def check(self, splits: Mapping[str, Dataset]) -> None:
        """Refuse held-out splits whose masks or modalities are not those of the training split."""
        for dataset in splits.values():
            self.check_data(dataset)

    def check_data(self, dataset: Dataset) -> None:
        """Refuse scans of another size, which a network that learned of patches may see."""
        scan_names(dataset, self.names, "Segmentation")
        grid = list(dataset.column("mask", "Segmentation").batch([0]).shape[1:])
        fits = grid == self.learned["grid"]
        if not fits and not (self.config.patch and len(grid) == self.dims):
            told = ["×".join(map(str, sides)) for sides in (self.learned["grid"], grid)]
            raise PolymodalError(
                f"This model was trained on scans of {told[0]}, but the data are {told[1]}. Resample "
                "them, or give the data of the training."
            )

    def validate(self, dataset: Dataset) -> Scores:
        """Dice with the subsets of modalities that select the weights."""
        kinds = subsets(self.names)
        wanted = {"alone": kinds[: len(self.names)], "mean": kinds, "all": kinds[-1:]}
        found = self.scored(dataset, wanted[self.config.select], distances=False)
        if self.monitor not in found:
            raise PolymodalError(
                f"No item of the validation split has what --select {self.config.select} asks for. "
                "Choose another, or give data that have these modalities."
            )
        return found

    def evaluate(self, dataset: Dataset) -> Scores:
        """Dice, sensitivity and Hausdorff distance with every subset of the modalities."""
        return self.scored(dataset, subsets(self.names), distances=True)

    def evaluate_with(self, dataset: Dataset, modalities: str) -> Scores:
        """The same with one subset of the modalities."""
        own = tuple(sorted(modalities.split("+")))
        if own not in subsets(self.names):
            raise PolymodalError(
                f"--modalities names {modalities!r}, but this model knows {', '.join(self.names)}. Give "
                f"all, or some of them, each once, such as {subset_name(self.names)}."
            )
        found = self.scored(dataset, [own], distances=True)
        if not found:
            raise PolymodalError(
                f"No item has {' and '.join(own)}, so that there is no score of it."
            )
        return {name: score for name, score in found.items() if name not in JOINT_SCORES}

    def scored(
        self, dataset: Dataset, wanted: Sequence[tuple[str, ...]], distances: bool
    ) -> Scores:
        """The scores of some subsets, each over the items that have all of it."""
        patients = self.segmented(dataset, wanted, distances)
        found: Scores = {}
        for names, own in patients.items():
            if own.counts:
                found |= own.scores(subset_name(names))
                found[f"patients_{subset_name(names)}"] = float(len(own.counts))
        dices = {names: found.get(f"dice_{subset_name(names)}") for names in wanted}
        known = {names: dice for names, dice in dices.items() if dice is not None}
        alone = [dice for names, dice in known.items() if len(names) == 1]
        if alone:
            found["dice_alone"] = float(np.mean(alone))
        if len(known) == len(subsets(self.names)):
            found["dice_mean"] = float(np.mean(list(known.values())))
        if tuple(sorted(self.names)) in known:
            found["dice_all"] = known[tuple(sorted(self.names))]
        return found

    @torch.no_grad()
    def segmented(
        self, dataset: Dataset, wanted: Sequence[tuple[str, ...]], distances: bool
    ) -> dict[tuple[str, ...], PatientScores]:
        """What is found of each patient with each subset."""
        self.check_data(dataset)
        self.eval()
        owners = owners_of(dataset)
        found = {own: PatientScores(tuple(self.classes), distances) for own in wanted}
        start = 0
        for block in self.examples(dataset).blocks(size=self.block(dataset)):
            batch = block.to(self.device)
            scans, there, _ = self.scans(batch)
            truth = self.checked_truth(batch.mask, dataset, start)
            known = getattr(batch, "mask_present", torch.ones_like(there[:, 0]))
            chosen = torch.tensor([[name in own for name in self.names] for own in wanted])
            looked = chosen.to(there.device)[:, None] & there
            window = window_of(truth.shape[1:], self.learned["grid"], self.config.patch)
            classes = chances_of(self, scans, looked, window).argmax(2).cpu().numpy()
            has = (looked.sum(2) == chosen.sum(1, keepdim=True).to(there.device)) & known
            for place, own in enumerate(wanted):
                for row in has[place].nonzero().squeeze(1).tolist():
                    found[own].add(owners[start + row], classes[place, row], truth[row])
            start += len(truth)
        return found

    def block(self, dataset: Dataset) -> int:
        """Items that are segmented at once: few where they are large."""
        places = np.prod(dataset.column("mask", "Segmentation").batch([0]).shape[1:])
        return int(np.clip(WHOLE // places, 1, BLOCK))

    def checked_truth(
        self, mask: Shaped[Tensor, "b *grid"], dataset: Dataset, start: int
    ) -> Int[np.ndarray, "b *grid"]:
        """The true classes; a label that no training mask has is an error."""
        if not self.learned["target"]:
            known = torch.tensor(self.learned["labels"], device=mask.device)
            strange = ~torch.isin(mask, known).flatten(1).all(1)
            if strange.any():
                row = int(strange.nonzero()[0])
                labels = sorted(set(mask[row].unique().tolist()) - set(self.learned["labels"]))
                raise PolymodalError(
                    f"The mask of {dataset.ids[start + row]!r} has labels that no training mask has: "
                    f"{', '.join(map(str, labels))}. The model knows "
                    f"{', '.join(map(str, self.learned['labels']))}."
                )
        return np.asarray(self.truth(mask).cpu().numpy())

    def symptoms(self, scores: Scores) -> list[str]:
        """A warning about modalities with which nothing is found."""
        blind = [name for name in self.names if scores.get(f"sensitivity_{name}", 100.0) < 1]
        if not blind:
            return []
        each = self.config.learn_from == "each"
        return [
            f"With {' or '.join(blind)} alone next to nothing is found. Train longer"
            + ("." if each else ", or on single modalities too: --learn-from each.")
        ]

    def protocol(self) -> dict[str, Any]:
        return {
            "modalities": ", ".join(self.names),
            "classes": ", ".join(self.classes),
            "dice": "of each patient, all slices together; 100 where both are empty; mean of patients",
            "hd95": "pixels, within slices that have both; a patient without any: the diagonal",
            "use": "research only, not a medical device",
        }
