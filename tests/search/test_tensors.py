"""Embeddings on disk: whole, refused when they are not, and made again where they are missing."""

import pytest
import torch

from clusters import clustered
from polymodal.base.errors import PolymodalError
from polymodal.search import tensors
from polymodal.search.tensors import (
    embed_in_parts,
    read_embeddings,
    unfinite,
    write_embeddings,
    write_tensors,
)


def test_embeddings_survive_their_file(tmp_path):
    points, gaussians = torch.randn(5, 3), clustered(5, 3)
    write_embeddings(tmp_path / "a", points.double())
    assert torch.equal(read_embeddings(tmp_path / "a"), points)
    write_embeddings(tmp_path / "b", gaussians[::2])
    assert torch.equal(read_embeddings(tmp_path / "b").log_var, gaussians.log_var[::2])


def test_files_that_hold_something_else(tmp_path):
    path = tmp_path / "a"
    with pytest.raises(PolymodalError, match="a is missing or damaged"):
        read_embeddings(path)
    path.write_bytes(b"nonsense")
    with pytest.raises(PolymodalError, match="a is missing or damaged"):
        read_embeddings(path)
    write_tensors(path, {"mean": torch.ones(1)})
    with pytest.raises(PolymodalError, match="should hold points, or mean and log_var; found mean"):
        read_embeddings(path)


def test_a_killed_embedding_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(tensors, "ROWS", 4)
    whole, asked, told = torch.randn(10, 3), [], []

    def embed(places, most=99):
        if places.start >= most:
            raise KeyboardInterrupt
        asked.append(places)
        return whole[places.start : places.stop]

    with pytest.raises(KeyboardInterrupt):
        embed_in_parts(tmp_path, 10, lambda places: embed(places, most=8))
    found = embed_in_parts(tmp_path, 10, embed, told.append)
    assert torch.equal(found, whole)
    assert asked == [range(4), range(4, 8), range(8, 10)]
    assert told == [4, 4, 2]


def test_a_part_of_another_size(tmp_path, monkeypatch):
    monkeypatch.setattr(tensors, "ROWS", 4)
    embed_in_parts(tmp_path, 3, lambda places: torch.ones(len(places), 2))
    with pytest.raises(PolymodalError, match=r"should hold 4 embeddings, not 3\. Delete"):
        embed_in_parts(tmp_path, 8, lambda places: torch.ones(len(places), 2))


def test_a_part_that_is_damaged(tmp_path):
    embed_in_parts(tmp_path, 3, lambda places: torch.ones(len(places), 2))
    path = tmp_path / "000000000.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    message = rf"damaged \(.*\)\. Delete {path} and give the same command again\.$"
    with pytest.raises(PolymodalError, match=message):
        embed_in_parts(tmp_path, 3, lambda places: torch.ones(len(places), 2))
    path.unlink()
    assert len(embed_in_parts(tmp_path, 3, lambda places: torch.ones(len(places), 2))) == 3


def test_the_first_that_is_not_finite():
    gaussians = clustered(9, 3)
    assert unfinite(gaussians, block=2) is None
    gaussians.log_var[7, 1] = torch.nan
    gaussians.mean[8, 1] = torch.inf
    assert unfinite(gaussians, block=2) == 7
    assert unfinite(gaussians.mean) == 8
