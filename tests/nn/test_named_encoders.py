"""Image encoders by name and by description."""

import json

import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.nn.efficientnet import EfficientNetLite0
from polymodal.nn.image_encoders import Backbone, ConvNet, Frozen, Standardised
from polymodal.nn.named_encoders import describe, extractor, image_encoder, load_pretrained
from toys import write_backbone

IMAGES = torch.randint(0, 256, (2, 3, 32, 32), dtype=torch.uint8, generator=torch.manual_seed(0))


@pytest.fixture(scope="module")
def vit(tmp_path_factory) -> str:
    return str(write_backbone(tmp_path_factory.mktemp("models") / "vit", "vit"))


def test_our_own_by_name():
    assert describe("convnet", 32) == {"kind": "convnet"}
    net = image_encoder({"kind": "convnet"}, width=16, finetune=False)
    assert isinstance(net, ConvNet)
    assert net.stem.out_channels == 16


def test_features_are_taken_as_they_are():
    layer = image_encoder({"kind": "features", "dim": 5}, width=8, finetune=False)
    assert torch.equal(layer(torch.ones(2, 5)), torch.ones(2, 5))
    assert layer.dim == 5


@pytest.mark.parametrize("finetune", [False, True])
def test_pretrained_ones_are_frozen_unless_they_are_tuned(vit, finetune):
    for description in ({"kind": "efficientnet-lite0"}, describe(vit, 32)):
        encoder = image_encoder(description, width=8, finetune=finetune)
        assert isinstance(encoder, Standardised)
        assert any(isinstance(module, Frozen) for module in encoder.modules()) != finetune
        assert any(p.requires_grad for p in encoder.parameters()) == finetune
        kind = EfficientNetLite0 if description["kind"] == "efficientnet-lite0" else Backbone
        assert any(isinstance(module, kind) for module in encoder.modules())
        assert encoder.dim == encoder(IMAGES).shape[1]


def test_a_description_builds_the_same_encoder_without_its_folder(vit):
    description = json.loads(json.dumps(describe(vit, 32)))
    first = image_encoder(description, width=8, finetune=False)
    load_pretrained(first)
    again = image_encoder({**description, "source": "gone"}, width=8, finetune=False)
    assert not torch.equal(again(IMAGES), first(IMAGES))
    again.load_state_dict(first.state_dict())
    assert torch.equal(again(IMAGES), first(IMAGES))


def test_an_extractor_is_the_pretrained_encoder(vit):
    first = image_encoder(describe(vit, 32), width=8, finetune=False)
    load_pretrained(first)
    assert torch.equal(extractor(vit, 32)(IMAGES), first(IMAGES))
    assert not extractor(vit, 32)(IMAGES).requires_grad


def test_an_unknown_name_names_the_nearest():
    with pytest.raises(PolymodalError, match=r"image encoder 'conv-net'\. Did you mean 'convnet'"):
        describe("conv-net", 32)


def test_a_missing_folder():
    with pytest.raises(PolymodalError, match=r"No image model could be opened at '\./nowhere'"):
        describe("./nowhere", 32)


def test_pictures_of_another_size(vit):
    with pytest.raises(
        PolymodalError,
        match=r"pictures of 32×32, but the data are 64×64\. Add ',size=32' to --data",
    ):
        describe(vit, 64)


def test_tuned_norms_keep_their_moments_and_learn_all_the_same():
    description = {"kind": "efficientnet-lite0"}
    pictures = torch.randint(0, 255, (4, 3, 32, 32), dtype=torch.uint8)
    for freeze in (True, False):
        torch.manual_seed(0)
        encoder = image_encoder(description, width=8, finetune=True, freeze_norm=freeze).train()
        norm = next(m for m in encoder.modules() if isinstance(m, torch.nn.BatchNorm2d))
        before = norm.running_mean.clone()
        encoder(pictures).square().mean().backward()
        assert torch.equal(norm.running_mean, before) == freeze
        assert norm.weight.grad.abs().sum() > 0
        names = set(encoder.state_dict())
    frozen = image_encoder(description, width=8, finetune=False)
    assert names == set(frozen.state_dict())
