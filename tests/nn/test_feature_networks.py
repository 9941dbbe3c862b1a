"""Feature networks: what they give, what they say of themselves, and what is missing where they are not."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import torch
from torch import nn

from polymodal.base.errors import PolymodalError
from polymodal.nn.efficientnet import EfficientNetLite0
from polymodal.nn.feature_networks import FeatureNetwork, Seen, network_named
from polymodal.nn.picture_crops import resized
from polymodal.nn.torchvision_networks import ARCHITECTURES
from toys import write_backbone

PICTURES = torch.randint(256, (2, 40, 40, 3), dtype=torch.uint8, generator=torch.manual_seed(0))
WHOLE = torch.tensor([[0.0, 0, 1, 1]] * 2)


@pytest.fixture
def lite(tmp_path) -> FeatureNetwork:
    torch.manual_seed(0)
    torch.save(EfficientNetLite0().state_dict(), tmp_path / "weights.pth")
    return network_named("efficientnet-lite0", tmp_path / "weights.pth")


class Means(nn.Module):
    """Pixels' means as features."""

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return pixels.mean((2, 3))


def test_efficientnet_gives_its_own_features_maps_and_logits(lite):
    seen = lite.see(PICTURES)
    net, pixels = lite.body.net, resized(PICTURES, 224)
    torch.testing.assert_close(seen.features, net(pixels))
    torch.testing.assert_close(seen.logits, net.logits(pixels))
    assert [tuple(m.shape[1:]) for m in seen.maps] == [
        (16, 112, 112), (24, 56, 56), (40, 28, 28), (112, 14, 14), (320, 7, 7)
    ]  # fmt: skip
    torch.testing.assert_close(net.head(seen.maps[-1]).mean((2, 3)), seen.features)
    assert lite.train().body.training is False


def test_a_crop_of_all_is_the_whole(lite):
    found = lite.see_crops(PICTURES, WHOLE, torch.arange(2))
    torch.testing.assert_close(found.features, lite.see(PICTURES).features)
    assert not found.features.requires_grad


def test_gradients_reach_pixels(lite):
    pixels = torch.full((1, 3, 224, 224), 90.0, requires_grad=True)
    lite(pixels).features.sum().backward()
    assert pixels.grad.abs().sum() > 0
    assert all(p.grad is None for p in lite.parameters())


def test_any_module_of_features_will_do():
    network = FeatureNetwork(Means(), name="means", side=8, layer="all")
    seen = network.see(PICTURES)
    torch.testing.assert_close(seen.features, resized(PICTURES, 8).mean((2, 3)))
    assert seen.logits is None


def test_a_measure_is_the_same_within_a_training_in_half_precision(lite):
    alone = lite.see(PICTURES).features
    torch.set_float32_matmul_precision("high")
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(lite.see(PICTURES).features, alone)
        assert torch.get_float32_matmul_precision() == "high"
        assert (PICTURES.float().flatten(1) @ torch.ones(4800, 1)).dtype == torch.bfloat16
    torch.set_float32_matmul_precision("highest")


def test_a_fingerprint_tells_networks_apart():
    torch.manual_seed(0)
    first, second = (nn.Sequential(nn.Flatten(), nn.Linear(3 * 64, 4)) for _ in range(2))
    told = [FeatureNetwork(b, name="a", side=8, layer="l").fingerprint() for b in (first, second)]
    assert told[0]["weights"] != told[1]["weights"]
    assert {k: v for k, v in told[0].items() if k != "weights"} == {
        "network": "a", "layer": "l", "side": 8, "crops": "all pixels that a box touches",
        "resize": "bilinear, antialiased, of bytes as floats, not rounded",
    }  # fmt: skip
    second.load_state_dict(first.state_dict())
    assert FeatureNetwork(second, name="a", side=8, layer="l").fingerprint() == told[0]


@pytest.mark.parametrize("kind", ["resnet", "vit"])
def test_models_of_transformers(tmp_path, kind):
    network = network_named(str(write_backbone(tmp_path / kind, kind)))
    seen = network.see(PICTURES)
    assert seen.features.shape == (2, {"resnet": 12, "vit": 16}[kind])
    assert bool(seen.maps) == (kind == "resnet")
    assert network.fingerprint()["network"] == kind
    pixels = resized(PICTURES, network.side)
    by_hand = network.body.net.model(
        pixel_values=network.body.net.scaled(pixels.byte())
    ).pooler_output
    torch.testing.assert_close(seen.features, by_hand.flatten(1), atol=0.02, rtol=0)
    with pytest.raises(PolymodalError, match=r"in its own folder: give no file of weights"):
        network_named(str(tmp_path / kind), Path("w.pth"))


class Toy(nn.Module):
    """A network with the layers' names of one of torchvision's."""

    def __init__(self, **options: object) -> None:
        super().__init__()
        self.options, self.transform_input = options, True
        self.Conv2d_2b_3x3, self.Conv2d_4a_3x3 = nn.Conv2d(3, 4, 1), nn.Conv2d(4, 5, 1)
        self.Mixed_5d, self.Mixed_6e = nn.Conv2d(5, 6, 1), nn.Conv2d(6, 7, 1)
        self.Mixed_7c, self.fc = nn.Conv2d(7, 8, 1), nn.Linear(8, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in (
            self.Conv2d_2b_3x3,
            self.Conv2d_4a_3x3,
            self.Mixed_5d,
            self.Mixed_6e,
            self.Mixed_7c,
        ):
            x = layer(x[:, :, ::4, ::4])
        return self.fc(x.mean((2, 3)))


@pytest.fixture
def torchvision(monkeypatch) -> None:
    models = ModuleType("torchvision.models")
    models.inception_v3 = Toy
    models.Inception_V3_Weights = SimpleNamespace(IMAGENET1K_V1="published")
    package = ModuleType("torchvision")
    package.models = models
    monkeypatch.setitem(sys.modules, "torchvision", package)
    monkeypatch.setitem(sys.modules, "torchvision.models", models)


def test_a_network_of_torchvision_is_listened_to(torchvision, tmp_path):
    torch.manual_seed(0)
    theirs = Toy().eval()
    torch.save(theirs.state_dict(), tmp_path / "inception.pth")
    network = network_named("inception-v3", tmp_path / "inception.pth")
    seen = network.see(PICTURES)
    pixels = resized(PICTURES, 299) / 127.5 - 1
    torch.testing.assert_close(seen.logits, theirs(pixels))
    torch.testing.assert_close(theirs.fc(seen.features), seen.logits)
    assert [m.shape[1] for m in seen.maps] == [4, 5, 6, 7, 8]
    net = network.body.hooked.net
    assert net.options == {"weights": None, "aux_logits": True, "init_weights": False}
    assert net.transform_input is False
    assert not net.fc._forward_hooks
    assert network.fingerprint()["layer"] == "what goes into fc"


def test_published_weights_are_torchvisions_own(torchvision):
    assert network_named("inception-v3").body.hooked.net.options == {"weights": "published"}


def test_other_weights_are_refused(torchvision, tmp_path):
    path = tmp_path / "weights.pth"
    with pytest.raises(PolymodalError, match="no such file of weights"):
        network_named("inception-v3", path)
    path.write_bytes(b"none")
    with pytest.raises(PolymodalError, match="not the weights of torchvision's inception-v3"):
        network_named("inception-v3", path)
    torch.save({"a": torch.zeros(1)}, path)
    with pytest.raises(PolymodalError, match=r"inception-v3 \(RuntimeError: Error"):
        network_named("inception-v3", path)


@pytest.mark.parametrize("name", sorted(ARCHITECTURES))
def test_absent_torchvision_names_the_extra(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "torchvision", None)
    with pytest.raises(PolymodalError, match=r"pip install 'polymodal\[vision\]', or choose effic"):
        network_named(name)


def test_an_unknown_name_names_the_nearest():
    with pytest.raises(PolymodalError, match=r"network 'inception'\. Did you mean 'inception-v3'"):
        network_named("inception")


def test_what_is_seen_may_be_features_alone():
    assert Seen(torch.zeros(1, 2)).maps == ()
