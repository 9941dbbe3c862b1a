"""The running moments of batch norms, taken anew in the precision of evaluation and use."""

from collections.abc import Sequence

import torch
from torch import nn

from polymodal.data.sayings import SayingBatch
from polymodal.systems.vlvae.model import JointModel


@torch.no_grad()
def settle(model: JointModel, batches: Sequence[SayingBatch]) -> None:
    """Take the running moments of the shared networks from batches alone, unrounded.

    Those that a training in bf16 has kept are of encodings by rounded weights: a few hundredths of a
    deviation beside what the same weights give unrounded, and so are the places of what is drawn.
    """
    shared = nn.ModuleList([model.shared_encoder, model.shared_decoder])
    before = model.shared_encoder.training
    norms = [part for part in shared.modules() if isinstance(part, nn.BatchNorm1d)]
    paces = [norm.momentum for norm in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # all batches alike
    shared.train()
    for batch in batches:
        with torch.autocast(batch.images.device.type, enabled=False):
            model.code(model.posterior(batch.images, batch.texts[:, 0]).sample())
    for norm, pace in zip(norms, paces, strict=True):
        norm.momentum = pace
    shared.train(before)
