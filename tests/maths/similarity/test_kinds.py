"""What measures say of embeddings that they do not take, and of names that nobody has."""

import pytest
import torch
from brute import NAMES, draw

from polymodal.base.errors import PolymodalError
from polymodal.maths.similarity import MEASURES, cosine, kl, lift, mahalanobis, measure, turned


def message(function, *given):
    with pytest.raises(PolymodalError) as error:
        function(*given)
    return str(error.value)


@pytest.mark.parametrize("name", NAMES)
def test_measures_are_found_by_name(name):
    assert measure(name).name == name
    assert len(NAMES) == len(set(NAMES)) == len(MEASURES) == 8


def test_an_unknown_name_is_told_its_neighbour():
    assert message(measure, "waserstein").startswith(
        "Unknown similarity 'waserstein'. Did you mean 'wasserstein'? Known: bhattacharyya, cosine,"
    )


def test_the_wrong_kind_is_named():
    points, gaussians = torch.randn(3, 4, dtype=torch.double), draw(3, 4)
    end = "A point is a tensor (a Gaussian's is its `.mean`), a Gaussian a DiagonalGaussian."
    assert message(kl, points, gaussians) == (
        "kl compares Gaussian images with Gaussian captions; "
        f"found point images and Gaussian captions. {end}"
    )
    assert message(mahalanobis, gaussians, gaussians) == (
        "mahalanobis compares point images with Gaussian captions or Gaussian images with point "
        f"captions; found Gaussian images and Gaussian captions. {end}"
    )
    assert message(cosine, gaussians, gaussians).startswith(
        "cosine compares point images with point captions; found Gaussian images and Gaussian"
    )
    assert "found list images and point captions" in message(cosine, [1.0], points)
    assert "found point images." in message(kl.hold, points)
    assert "found point captions and Gaussian images" in message(turned(kl), points, gaussians)
    assert "found Gaussian images and point captions" in message(kl.hold(gaussians), points)


@pytest.mark.parametrize("name", NAMES)
def test_every_measure_refuses_what_it_does_not_take(name):
    points, gaussians = torch.randn(3, 4, dtype=torch.double), draw(3, 4)
    for images, kind in ((points, "point"), (gaussians, "Gaussian")):
        for captions, other in ((points, "point"), (gaussians, "Gaussian")):
            if (kind, other) in measure(name).kinds:
                assert measure(name)(images, captions).shape == (3, 3)
            else:
                assert message(measure(name), images, captions).startswith(f"{name} compares")


def test_widths_must_agree():
    assert message(kl, draw(3, 4), draw(2, 5)) == (
        "kl needs rows of one width on both sides (m×d and n×d); "
        "found images of shape (3, 4) and captions of shape (2, 5)."
    )
    assert "images of shape (4,)" in message(cosine, torch.ones(4), torch.ones(2, 4))


def test_what_cannot_be_lifted_says_so():
    assert message(lift, "bhattacharyya", draw(3, 4), "image") == (
        "bhattacharyya is no inner product of lifted vectors, so no index can search it. "
        "Search it exactly, by `top_k`, or choose another similarity."
    )
    assert message(lift, "kl", draw(3, 4), "text").startswith("Unknown side 'text'.")
    assert message(lift, "kl", torch.ones(3, 4), "image").startswith("kl compares")
