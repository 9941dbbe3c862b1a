"""Base class of the zero-shot systems: everything but the loss."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor
from torch.nn.functional import cross_entropy

from polymodal.base.errors import PolymodalError
from polymodal.data.classes import classed, unit_attributes
from polymodal.data.records import Dataset
from polymodal.metrics.class_accuracy import harmonic, top1
from polymodal.nn import scratch
from polymodal.nn.augment import RandomCrop
from polymodal.nn.learning_rates import adam
from polymodal.nn.scratch import Features
from polymodal.systems.zeroshot import class_answers
from polymodal.systems.zeroshot.class_examples import ClassBatch, ClassExamples
from polymodal.systems.zeroshot.learner_settings import Settings
from polymodal.systems.zeroshot.local_losses import LocalClassifier
from polymodal.systems.zeroshot.prototypes import (
    Fitting,
    Prototypes,
    centred,
    cosines_about,
    fitted,
    ridge,
)
from polymodal.training.recording import Outputs, Recordable


class Learner(Recordable):
    """An encoder that is trained by some loss, and evaluated on unseen classes.

    Before each validation, prototypes are fitted to the frozen features of the training images
    (003, §4.4.5). They are saved with the weights.
    """

    monitor = "zsl_top1"
    can = frozenset({"recognise"})
    partners: float | None = None
    """Probability that an image comes with another of its class; None if it comes alone."""

    attributes: Float[Tensor, "c a"]
    known: Bool[Tensor, " c"]
    ridges: Float[Tensor, "c d"]

    def __init__(self, config: Settings, learned: dict[str, Any]) -> None:
        super().__init__()
        self.config, self.learned = config, learned
        classes, width = learned["classes"], learned["attributes"]
        self.crop = RandomCrop(config.crop, config.flip)
        size = round(learned["size"] * config.crop)
        self.encoder = getattr(scratch, config.encoder)(
            size=size, dim=config.dim, slim=config.slim, dropout=config.dropout
        )
        self.local = (
            None
            if config.local == "none"
            else LocalClassifier(
                config.local,
                local=self.encoder.local_dim,
                attributes=width,
                classes=classes,
                hidden=config.local_hidden,
                each=config.local_per_position,
            )
        )
        self.prototypes = Prototypes(width, config.dim)
        self.register_buffer("attributes", torch.zeros(classes, width))
        self.register_buffer("known", torch.zeros(classes, dtype=torch.bool))
        self.register_buffer("ridges", torch.zeros(classes, config.dim))
        self.learned_from: ClassExamples | None = None

    # Training

    @abstractmethod
    def loss(self, views: Sequence[Features], batch: ClassBatch) -> Float[Tensor, ""]:
        """The system's own loss, without the local loss."""

    def views(self, batch: ClassBatch) -> Sequence[Features]:
        """The features of a batch: of each image, or for some systems of two images or views."""
        return [self.see(batch.images)]

    def start(self, train: Dataset) -> None:
        """Store the attributes of all classes, and which classes have training images."""
        data = classed(train)
        self.attributes.copy_(torch.from_numpy(unit_attributes(data.attributes)))
        self.known[torch.from_numpy(data.labels).unique()] = True
        self.learned_from = ClassExamples(data, self.partners)

    def begin_from(self, weights: dict[str, Tensor], learned: dict[str, Any]) -> None:
        """Load the encoder of another run."""
        shapes = {k: v.shape for k, v in self.encoder.state_dict(prefix="encoder.").items()}
        theirs = {k: v.shape for k, v in weights.items() if k.startswith("encoder.")}
        if shapes != theirs:
            raise PolymodalError(
                "--init names a run with another encoder. Start from one with the same --encoder, "
                "--dim, --crop and image size."
            )
        self.load_state_dict({k: weights[k] for k in shapes}, strict=False)

    def examples(self, dataset: Dataset) -> ClassExamples:
        earlier = self.learned_from
        return (
            earlier
            if earlier and earlier.dataset is dataset
            else ClassExamples(classed(dataset), self.partners)
        )

    def training_step(self, batch: ClassBatch, batch_idx: int) -> Outputs:
        return self.stepped(self.step, batch)

    def step(self, batch: ClassBatch) -> Outputs:
        """The system's own loss plus the local loss, averaged over all views."""
        views = self.views(batch)
        loss = self.loss(views, batch)
        if self.local is not None:
            local = [self.local_loss(view, batch.labels) for view in views]
            loss = loss + self.config.local_weight * torch.stack(local).mean()
        return {"loss": loss, "shown": loss.detach()}

    def local_loss(self, view: Features, labels: Int[Tensor, " b"]) -> Float[Tensor, ""]:
        """The local loss of one view of each image."""
        attributes = self.attributes
        if self.config.local_centred:
            attributes = centred(attributes, self.known)
        logits = self.local(view.local, attributes)  # type: ignore[misc]
        return self.cross_entropy_of_seen(
            logits, labels.repeat_interleave(len(logits) // len(labels))
        )

    def see(self, images: UInt8[Tensor, "b 3 h w"]) -> Features:
        """The features of a crop of each image, scaled to [−1, 1]."""
        features: Features = self.encoder(self.crop(images).float() / 127.5 - 1)
        return features

    def cross_entropy_of_seen(
        self, logits: Float[Tensor, "b c"], labels: Int[Tensor, " b"]
    ) -> Float[Tensor, ""]:
        """The cross-entropy over classes with training images: unseen classes are excluded, so
        nothing is learned about them."""
        return cross_entropy(logits.float().masked_fill(~self.known, -torch.inf), labels)

    def configure_optimizers(self) -> Any:
        falls_over = self.clock.last if self.config.decay else None
        fused = self.device.type == "cuda"
        return adam(self.parameters(), self.config.lr, falls_over=falls_over, fused=fused)

    # Evaluation

    def validate(self, dataset: Dataset) -> dict[str, float]:
        """Fit the prototypes, and evaluate on the classes of a split."""
        self.fit_prototypes()
        return self.evaluate(dataset)

    def fit_prototypes(self) -> None:
        """Fit both kinds of prototypes to the current features of the training images."""
        if self.learned_from is None:
            raise PolymodalError(
                "Prototypes are fitted to the training images, which this model does not have. "
                "Use `evaluate`, which uses the saved prototypes."
            )
        features, labels = self.features(self.learned_from.dataset)
        self.ridges.copy_(ridge(features, labels, self.attributes, self.config.ridge))
        self.fit(features, labels)

    def fit(self, features: Float[Tensor, "n d"], labels: Int[Tensor, " n"]) -> None:
        """Fit the prototypes that classes are recognised by."""
        how = Fitting(steps=self.config.fit_steps, lr=self.config.fit_lr)
        net = fitted(features, labels, self.attributes, how)
        self.prototypes.load_state_dict(net.state_dict())

    @torch.no_grad()
    def evaluate(self, dataset: Dataset) -> dict[str, float]:
        """Accuracy among the classes of the split and among all classes, averaged over classes."""
        self.check_data(dataset)
        features, labels = self.features(dataset)
        scores = self.prototypes.scores(features, self.attributes)
        here = torch.zeros_like(self.known)
        here[labels] = True
        level = scores - self.config.calibration_factor * self.known
        return {
            "zsl_top1": top1(scores, labels, here),
            "zsl_top1_ridge": top1(cosines_about(features, self.ridges, self.known), labels, here),
            "top1_among_all": top1(level, labels, torch.ones_like(here)),
            "chance": 100 / int(here.sum()),
            "classes_learned": 100 * self.known[here].float().mean().item(),
        }

    def check_data(self, dataset: Dataset) -> None:
        """Refuse data with other classes, or images of another size."""
        data, names, size = classed(dataset), self.learned["names"], self.learned["size"]
        if list(data.classes) != names:
            raise PolymodalError(
                f"This model knows {len(names)} classes, {names[0]!r} the first of them; these data have "
                f"{len(data.classes)}, {data.classes[0]!r} the first. Give data of the same classes."
            )
        pixels = data.images([0]).shape[1]
        if pixels != size:
            raise PolymodalError(
                f"This model takes pictures of {size}×{size}, but the data are {pixels}×{pixels}. Add "
                f"',size={size}' to the data."
            )

    def joined(self, scores: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        """Add the scores of generalised zero-shot learning (Xian et al., 2017), if `test_seen` has
        other images of the training classes only."""
        seen, unseen = scores.get("test_seen"), scores.get("test")
        if not (seen and unseen and seen["classes_learned"] == 100):
            return scores
        both = seen["top1_among_all"], unseen["top1_among_all"]
        added = {"gzsl_seen": both[0], "gzsl_unseen": both[1], "gzsl_harmonic": harmonic(*both)}
        return {**scores, "test": unseen | added}

    @torch.no_grad()
    def features(
        self, dataset: Dataset, views: int = 1
    ) -> tuple[Float[Tensor, "n d"], Int[Tensor, " n"]]:
        """The global features of all images of a split, and their classes: of the centre crop, then of
        random crops if there are more views."""
        self.eval()
        features, labels = [], []
        with torch.random.fork_rng([self.device] if self.device.type == "cuda" else []):
            torch.manual_seed(0)
            for view in range(views):
                self.crop.train(view > 0)
                for block in self.examples(dataset).blocks():
                    features.append(self.see(block.images.to(self.device)).whole.float())
                    labels.append(block.labels)
        self.crop.eval()
        return torch.cat(features), torch.cat(labels).to(self.device)

    # Use

    @property
    def unseen(self) -> list[str]:
        """The classes without training images, known only by their attributes."""
        names, known = self.learned["names"], self.known.tolist()
        return [name for name, seen in zip(names, known, strict=True) if not seen]

    @torch.no_grad()
    def encode_images(self, images: Sequence[Any]) -> Float[Tensor, "n d"]:
        """The global features of images: paths, PIL images, arrays, or a mix."""
        return class_answers.encode(self, images)

    @torch.no_grad()
    def recognise(
        self, images: Sequence[Any], among: Sequence[str] | None = None, first: int = 5
    ) -> list[class_answers.Named]:
        """The most likely classes of each image, with their cosines, among all or those of `among`."""
        return class_answers.recognise(self, images, among, first)

    def symptoms(self, scores: dict[str, float]) -> list[str]:
        """Warnings about scores near chance level."""
        if scores["zsl_top1"] > 1.5 * scores["chance"]:
            return []
        which = "Classes" if scores.get("classes_learned") else "Unseen classes"
        return [
            f"{which} are recognised hardly above chance level "
            f"({scores['zsl_top1']:.1f} % against {scores['chance']:.1f} %). Train longer, or try "
            "another --lr."
        ]

    def protocol(self) -> dict[str, Any]:
        return {
            "recognition": "cosine to prototypes from ℓ2-normalised attributes, fitted in "
            f"{self.config.fit_steps} steps at {self.config.fit_lr:g}",
            "ridge": "cosine to prototypes by ridge regression of weight "
            f"{self.config.ridge:g}, from the middle of the known classes",
            "handicap": self.config.calibration_factor,
            "accuracy": "top-1, the mean over classes, among the classes of the split",
        }
