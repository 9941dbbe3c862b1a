"""ShaSpec: what stands for a missing modality, and both losses beside that of the segmentation."""

import numpy as np
import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.data.columns import Stored
from polymodal.data.records import Dataset
from polymodal.systems.medical import shaspec
from scans import made, scans


def test_a_missing_modality_is_the_mean_of_what_is_shared(monkeypatch) -> None:
    train = scans(6, names=("flair", "t1", "t2"))
    system = made(shaspec, train).eval()
    given, _, _ = system.scans(system.examples(train).batch(np.arange(2)))
    encoded = system.encode(given)
    seen = []
    monkeypatch.setattr(system.decoder, "forward", lambda maps: seen.extend(maps) or maps[0][:, :2])
    system.decode(encoded, torch.tensor([[[True, False, True]] * 2]))
    for level, width in enumerate(system.widths):
        flair, t1, t2 = seen[level].split(width, 1)
        shared, specific = encoded.shared[level], encoded.specific[level]
        for found, place in ((flair, 0), (t2, 2)):
            both = torch.cat([shared[:, place], specific[:, place]], 1)
            torch.testing.assert_close(found, system.project[level](both) + shared[:, place])
        torch.testing.assert_close(t1, (shared[:, 0] + shared[:, 2]) / 2)
        torch.testing.assert_close(shared[:, 1], system.shared(given[1])[level])


def test_both_losses_are_plain_means_over_what_there_is() -> None:
    system = made(shaspec, scans(6, names=("flair", "t1", "t2"))).double()
    torch.manual_seed(0)
    shared, specific = torch.randn(2, 2, 3, 32).double()
    there = torch.tensor([[True, True, False], [True, True, True]])
    pairs = [(0, 0, 1), (1, 0, 1), (1, 0, 2), (1, 1, 2)]
    away = [(shared[b, i] - shared[b, j]).abs().mean().item() for b, i, j in pairs]
    assert system.apart(shared, there).item() == pytest.approx(np.mean(away))
    terms = [
        -system.modality(specific[b, i]).log_softmax(0)[i].item()
        for b in range(2)
        for i in range(3)
        if there[b, i]
    ]
    assert system.mistaken(specific, there).item() == pytest.approx(np.mean(terms), rel=1e-5)


def test_what_is_missing_takes_no_part() -> None:
    train = scans(12, lacking={"t1": 3})
    system = made(shaspec, train, learn_from="each")
    batch = system.examples(train).batch(np.arange(12))
    found = []
    for other in (0.0, 100.0):
        t1 = batch.t1.clone()
        t1[~batch.t1_present] = other
        found.append(system.training_step(type(batch)(**vars(batch) | {"t1": t1}), 0)["loss"])
    torch.testing.assert_close(*found)


def test_channels_must_be_alike() -> None:
    train = scans(6)
    wide = Stored(np.repeat(train.columns["t1"].values, 2, 1))
    with pytest.raises(PolymodalError, match="their channels differ: t1 2, flair 1"):
        made(shaspec, Dataset({**train.columns, "t1": wide}), modalities=("t1", "flair"))
