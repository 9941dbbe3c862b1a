"""All scores of made pictures: known cases, and that they are the scores of whole arrays."""

import pytest
import torch
from torch import nn

from polymodal.base.errors import PolymodalError
from polymodal.metrics.diversity import feature_distance
from polymodal.metrics.frechet import frechet_distance, moments_of
from polymodal.metrics.inception_score import inception_score
from polymodal.metrics.kernel_distance import Subsets, kernel_distance
from polymodal.metrics.picture_scores import Measuring, PictureScores, PictureSide, diversity
from polymodal.nn.feature_networks import FeatureNetwork, Seen
from polymodal.nn.picture_crops import crops, resized

BOXES = torch.tensor([[0.0, 0, 0.5, 0.5], [0.25, 0.5, 1, 1]])


class Toy(nn.Module):
    """Six features, four logits and two layers of maps."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.maps = nn.Conv2d(3, 6, 3, stride=2)
        self.head = nn.Linear(6, 4)

    def forward(self, pixels: torch.Tensor) -> Seen:
        first = self.maps(pixels / 128).relu()
        features = first.square().mean((2, 3))
        return Seen(features, self.head(features), [first, first[:, :3, ::2, ::2]])


NETWORK = FeatureNetwork(Toy(), name="toy", side=8, layer="means")


def pictures(n: int, seed: int, high: int = 256) -> torch.Tensor:
    return torch.randint(high, (n, 12, 12, 3), dtype=torch.uint8, generator=torch.manual_seed(seed))


def layouts(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Every other picture has one object, the others have two."""
    there = torch.ones(n, 2, dtype=torch.bool)
    there[1::2, 1] = False
    return BOXES.expand(n, 2, 4) * there[..., None], there


def measured(real: torch.Tensor, made: torch.Tensor, **how) -> PictureScores:
    scores = PictureScores(NETWORK, Measuring(**how))
    for a, b in zip(real.split(7), made.split(7), strict=True):
        scores.add(a, b, *layouts(len(a)))
    return scores


def test_scores_are_those_of_whole_arrays():
    real, made = pictures(21, 0), pictures(21, 1, 180)
    told = measured(real, made, block=4, kid=Subsets(count=3, size=9)).scores()
    seen = [NETWORK(resized(own, 8)) for own in (real, made)]
    owner, place = torch.cat([layouts(7)[1]] * 3).nonzero(as_tuple=True)
    cut = [NETWORK(crops(own, BOXES[place], owner, 8)).features for own in (real, made)]
    own = inception_score(seen[1].logits)
    kid = kernel_distance(*(s.features for s in seen), Subsets(count=3, size=9))
    expected = {
        "fid": frechet_distance(*(moments_of(s.features) for s in seen)),
        "scene_fid": frechet_distance(*(moments_of(features) for features in cut)),
        "kid": kid.value,
        "kid_spread": kid.spread,
        "is": own.mean,
        "is_spread": own.spread,
        "pictures": 21,
        "objects": 33,
    }
    assert told == pytest.approx(expected, rel=1e-4, abs=1e-7)
    assert told["fid"] > 1e-4


def test_pictures_are_at_0_from_themselves():
    real = pictures(14, 0)
    told = measured(real, real).scores()
    assert told["fid"] == pytest.approx(0, abs=1e-8)
    assert told["scene_fid"] == pytest.approx(0, abs=1e-8)


def test_scene_fid_is_of_objects_alone():
    """Noise beside the boxes moves FID alone."""
    real = pictures(14, 0)
    made = real.clone()
    made[:, :5, 7:] = pictures(14, 1, 90)[:, :5, 7:]
    told = measured(real, made).scores()
    assert told["scene_fid"] == pytest.approx(0, abs=1e-8)
    assert told["fid"] > 1e-5


def test_real_pictures_are_looked_at_once():
    real, made = pictures(14, 0), pictures(14, 1)
    whole = measured(real, made)
    again = PictureScores(NETWORK, real=whole.real)
    again.made.add(made, *layouts(14))
    assert again.scores().keys() == whole.scores().keys()
    for name in ("fid", "is", "pictures"):
        assert again.scores()[name] == pytest.approx(whole.scores()[name], rel=1e-5)
    other = FeatureNetwork(Toy(), name="toy", side=9, layer="means")
    with pytest.raises(PolymodalError, match="looked at with another feature network"):
        PictureScores(other, real=whole.real)


def test_a_network_without_logits_has_no_inception_score():
    class Means(nn.Module):
        def forward(self, pixels: torch.Tensor) -> torch.Tensor:
            return pixels.mean((2, 3))

    scores = PictureScores(FeatureNetwork(Means(), name="means", side=4, layer="all"))
    none = torch.zeros(6, 0, 4), torch.zeros(6, 0, dtype=torch.bool)
    scores.add(pictures(6, 0), pictures(6, 1), *none)
    assert scores.scores().keys() == {"fid", "kid", "kid_spread", "pictures", "objects"}
    assert scores.scores()["objects"] == 0


def test_the_protocol_has_all_that_a_figure_depends_on():
    scores = measured(pictures(14, 0), pictures(14, 1), splits=2)
    told = scores.protocol()
    assert told["network"] == "toy"
    assert told["kid"] == {"count": 100, "size": 7, "seed": 0}
    assert (told["splits"], told["made_pictures"], told["real_objects"]) == (2, 14, 22)
    assert told["resize"].startswith("bilinear, antialiased")


def test_too_few_pictures_are_told():
    scores = measured(pictures(6, 0), pictures(6, 1))
    assert [text.split(":")[0] for text in scores.symptoms()] == ["fid"]
    assert not measured(pictures(7, 0), pictures(7, 1)).symptoms()
    with pytest.raises(PolymodalError, match="no pictures to compare yet"):
        PictureScores(NETWORK).scores()
    with pytest.raises(PolymodalError, match="block must be 1 or more"):
        Measuring(block=0)


def test_diversity_is_that_of_all_maps_at_once():
    samples = pictures(15, 0).unflatten(0, (5, 3))
    maps = NETWORK.see(samples.flatten(0, 1)).maps
    whole = feature_distance([m.unflatten(0, (5, 3)) for m in maps])
    torch.testing.assert_close(diversity(NETWORK, samples, block=4), whole)
    assert diversity(NETWORK, samples[:, :1].expand(-1, 3, -1, -1, -1)).max() < 1e-6


def test_a_side_of_one_has_nothing_to_compare():
    side = PictureSide(NETWORK)
    assert side.pictures is None
    side.add(pictures(2, 0), *layouts(2))
    assert (side.pictures.count, side.objects.count) == (2, 3)
