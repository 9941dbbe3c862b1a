"""Networks as encoders of regions: crops, maps that are pooled; the same for any size of a batch."""

from pathlib import Path

import numpy as np
import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.data.columns import Read
from polymodal.data.records import Dataset
from polymodal.nn import regions
from polymodal.nn.feature_maps import maps_of
from polymodal.nn.named_encoders import extractor
from polymodal.nn.regions.crops import crops
from polymodal.nn.roi_align import roi_align
from toys import write_backbone

SIZE = 40


def noise(rows):
    return np.stack(
        [np.random.default_rng(r).integers(0, 256, (SIZE, SIZE, 3), np.uint8) for r in rows]
    )


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return Dataset({"image": Read(5, noise)}, fingerprint="noise")


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("models")
    return {kind: str(write_backbone(folder / kind, kind)) for kind in ("vit", "resnet")}


def made(dataset: Dataset, batch_size: int = 32, **given) -> tuple[dict, np.ndarray, np.ndarray]:
    plan = regions.describe(finder="windows", count=4, **given)
    found = regions.with_proposals(dataset, plan, dtype="float32", batch_size=batch_size).columns
    rows = range(len(dataset))
    return plan, found["proposals"].batch(rows), found["proposal_features"].batch(rows)


@pytest.mark.parametrize("kind", ["vit", "resnet"])
def test_a_network_sees_each_crop(dataset, models, kind):
    size = 32 if kind == "vit" else 24
    told = {} if kind == "vit" else {"crop": 24}  # a vision transformer has its own size
    plan, boxes, features = made(dataset, encoder=models[kind], context=0.1, **told)
    assert plan["encoder"]["crop"] == size
    cut = torch.from_numpy(crops(noise([3]), [boxes[3]], size, 0.1)).permute(0, 3, 1, 2)
    with torch.no_grad():
        wanted = extractor(models[kind], size)(cut)
    np.testing.assert_allclose(features[3], wanted.numpy(), atol=1e-5)


@pytest.mark.parametrize("kind", ["vit", "resnet"])
def test_maps_are_pooled_over_each_box(dataset, models, kind):
    told = {} if kind == "vit" else {"crop": 64}
    plan, boxes, features = made(dataset, encoder=models[kind], pool="roi", **told)
    size = plan["encoder"]["crop"]
    cut = torch.from_numpy(crops(noise([2]), [np.array([[0, 0, SIZE, SIZE]], np.float32)], size))
    with torch.no_grad():
        maps = maps_of(extractor(models[kind], size).encoder[0], size)(cut.permute(0, 3, 1, 2))
        wanted = roi_align(maps, torch.from_numpy(boxes[2:3] / SIZE), 1, 7)
    np.testing.assert_allclose(features[2], wanted[0, :, :, 0, 0].numpy(), atol=1e-5)


@pytest.mark.parametrize("pool", ["crops", "roi"])
def test_no_picture_sees_its_batch(dataset, models, pool):
    _, boxes, whole = made(dataset, encoder=models["vit"], pool=pool, geometry=True)
    _, same, single = made(dataset, batch_size=1, encoder=models["vit"], pool=pool, geometry=True)
    np.testing.assert_array_equal(boxes, same)
    np.testing.assert_allclose(whole, single, atol=1e-5)


def test_the_geometry_alone(dataset):
    _, boxes, features = made(dataset, encoder="none", geometry=True)
    assert features.shape == (5, 4, 5)
    np.testing.assert_allclose(features[:, :, 2] * SIZE, boxes[..., 2] - boxes[..., 0], rtol=1e-5)


def test_folders_are_found_from_everywhere(models, monkeypatch):
    folder = Path(models["vit"])
    monkeypatch.chdir(folder.parent)
    told = regions.describe(finder="own:vit*3", encoder="./vit")
    assert (told["finders"][0]["source"], told["encoder"]["kind"]) == (str(folder), str(folder))


def test_efficientnet_is_known_by_name():
    sizes = [
        regions.describe(encoder="efficientnet-lite0", pool=p)["encoder"]["crop"]
        for p in ("crops", "roi")
    ]
    assert sizes == [128, 512]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"encoder": "efficient"},
            "Unknown encoder of regions 'efficient'. Did you mean 'efficientnet-",
        ),
        ({"encoder": "vit", "crop": 48}, "takes pictures of 32×32, not of 48×48. Give --crop 32"),
        ({"pool": "roi"}, "encoder pixels has no maps. Leave out pool=roi"),
        ({"pool": "roy"}, "Unknown pool 'roy'. Did you mean 'roi'"),
        ({"encoder": "none"}, "would have no features: the finder gives boxes alone"),
    ],
)
def test_what_an_encoder_cannot_be(models, given, message):
    given = {key: models.get(value, value) for key, value in given.items()}
    with pytest.raises(PolymodalError) as error:
        regions.describe(finder="windows", **given)
    assert message in str(error.value)
