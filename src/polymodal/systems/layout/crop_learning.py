"""A classifier of crops at hand as arrays: CAS trains one on made objects (Ravuri and Vinyals, 2019)."""

from collections.abc import Sequence

import torch

from polymodal.base.errors import PolymodalError
from polymodal.data.batch_order import Order
from polymodal.nn.learning_rates import half_cosine
from polymodal.systems.layout.crop_classifier import CropBatch, CropClassifier
from polymodal.systems.layout.crops import Config, build
from polymodal.training.system import Scores


def joined_crops(batches: Sequence[CropBatch]) -> CropBatch:
    """Crops of several batches as one."""
    return CropBatch(
        torch.cat([batch.crops for batch in batches]),
        torch.cat([batch.labels for batch in batches]),
    )


def train_on_crops(
    crops: CropBatch,
    classes: Sequence[str],
    config: Config,
    *,
    steps: int = 1000,
    batch_size: int = 128,
    seed: int = 0,
) -> CropClassifier:
    """A classifier trained on these crops, on their device.

    It follows from the seed alone, and leaves torch's own generator as it was.

    Args:
        crops: what it learns from.
        classes: what their labels stand for.
        config: of the classifier.
        steps: batches that it learns from.
        batch_size: crops in each, or all there are.
        seed: of its weights and of the order.
    """
    if len(crops) < 2:
        raise PolymodalError(
            f"A classifier is trained on two crops or more; found {len(crops)}. Give more pictures."
        )
    device = crops.crops.device
    order = Order(examples=len(crops), batch_size=min(batch_size, len(crops)), seed=seed)
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        classifier = build(config, {"classes": list(classes)}).to(device).train()
        optimizer = torch.optim.Adam(classifier.parameters(), config.lr)
        for step in range(steps):
            for group in optimizer.param_groups:
                group["lr"] = config.lr * half_cosine(step / steps)
            rows = torch.from_numpy(order.at(step)).to(device)
            optimizer.zero_grad()
            classifier.step(CropBatch(crops.crops[rows], crops.labels[rows]))["loss"].backward()
            optimizer.step()
    return classifier.eval()


def classification_scores(
    made: CropBatch, real: CropBatch, classes: Sequence[str], config: Config, **training: int
) -> Scores:
    """`cas`, the accuracy on real crops of a classifier of made ones, and over how many.

    Args:
        made: crops of made pictures.
        real: crops of real ones, of a held-out split.
        classes: what their labels stand for.
        config: of the classifier.
        training: steps, batch_size and seed of `train_on_crops`.
    """
    told = train_on_crops(made, classes, config, **training).scores([real])
    return {
        "cas": told["accuracy"],
        "cas_objects": told["objects"],
        "cas_crops": float(len(made)),
    }
