"""Image encoders: no image sees its batch, what is frozen stays so, backbones are transformers' own."""

import json
import shutil

import pytest
import torch
from torch import nn

from polymodal.base.errors import PolymodalError
from polymodal.nn.image_encoders import Backbone, ConvNet, Frozen, Standardised, describe_backbone
from toys import write_backbone

IMAGES = torch.randint(0, 256, (4, 3, 32, 32), dtype=torch.uint8, generator=torch.manual_seed(0))
KINDS = ["vit", "resnet", "clip"]


@pytest.fixture(scope="module", params=KINDS)
def folder(request, tmp_path_factory):
    return write_backbone(tmp_path_factory.mktemp("models") / request.param, request.param)


def pooled(folder, images):
    """transformers' own pooled output."""
    from transformers import AutoModel

    model = AutoModel.from_pretrained(folder).eval()
    model = getattr(model, "vision_model", model)
    mean, std = (torch.tensor(x).view(3, 1, 1) for x in ([0.4, 0.5, 0.6], [0.2, 0.25, 0.3]))
    return model(pixel_values=(images / 255 - mean) / std).pooler_output.flatten(1)


@pytest.mark.parametrize("train", [False, True])
def test_the_convnet_sees_no_other_image_of_its_batch(train):
    torch.manual_seed(0)
    net = ConvNet(8).double().train(train)
    whole = net(IMAGES)
    assert whole.shape == (4, net.dim)
    for row in range(4):
        torch.testing.assert_close(net(IMAGES[row : row + 1])[0], whole[row], rtol=0, atol=1e-12)


def test_the_convnet_takes_any_size():
    assert ConvNet(8)(IMAGES[:, :, :17, :25]).shape == (4, 256)


def test_standardised_features_have_mean_0_and_deviation_1():
    features = torch.randn(500, 3) * torch.tensor([2.0, 0.0, 5.0]) + torch.tensor([1.0, 7.0, -3.0])
    layer = Standardised(nn.Identity(), 3)
    assert torch.equal(layer(features), features)
    layer.fit(features.mean(0), features.std(0))
    found = layer(features)
    torch.testing.assert_close(found.mean(0), torch.zeros(3), rtol=0, atol=1e-5)
    torch.testing.assert_close(found.std(0), torch.tensor([1.0, 0.0, 1.0]), rtol=0, atol=1e-5)
    assert set(layer.state_dict()) == {"mean", "std"}


def test_frozen_stays_in_evaluation_and_has_no_gradients():
    net = nn.Sequential(nn.Flatten(), nn.Linear(3072, 2), nn.BatchNorm1d(2), nn.Dropout(0.9))
    net.dim = 2
    frozen = Frozen(net)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    nn.ModuleList([frozen]).train()
    assert frozen.training
    assert not any(module.training for module in net.modules())
    found = frozen(IMAGES.float())
    assert not found.requires_grad
    assert torch.equal(found, frozen(IMAGES.float()))
    assert not any(p.requires_grad for p in frozen.parameters())
    assert all(torch.equal(net.state_dict()[name], value) for name, value in before.items())


def test_a_backbone_gives_transformers_pooled_output(folder):
    backbone = Backbone(describe_backbone(str(folder)))
    backbone.load_pretrained()
    found = backbone.eval()(IMAGES)
    assert found.shape == (4, backbone.dim)
    torch.testing.assert_close(found, pooled(folder, IMAGES))


def test_a_backbone_is_built_again_without_its_folder(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    description = json.loads(json.dumps(describe_backbone(str(copy))))
    first = Backbone(description)
    first.load_pretrained()
    shutil.rmtree(copy)
    again = Backbone(description)
    again.load_state_dict(first.state_dict())
    assert torch.equal(again.eval()(IMAGES), first.eval()(IMAGES))


def test_a_frozen_backbone_stays_frozen_once_its_weights_are_loaded(folder):
    backbone = Backbone(describe_backbone(str(folder)))
    frozen = Frozen(backbone)
    backbone.load_pretrained()
    assert not any(p.requires_grad for p in frozen.parameters())
    assert not any(module.training for module in backbone.modules())


def test_a_backbone_to_be_tuned_is_in_training_mode_once_its_weights_are_loaded(folder):
    backbone = Backbone(describe_backbone(str(folder)))
    backbone.load_pretrained()
    assert all(module.training for module in backbone.modules())


def test_an_absent_model_says_what_is_needed(tmp_path):
    with pytest.raises(
        PolymodalError, match=r"No image model could be opened at(.|\n)*config.json"
    ):
        describe_backbone(str(tmp_path / "nowhere"))


def test_a_model_without_its_scaling_says_so(tmp_path):
    folder = write_backbone(tmp_path, "vit")
    (folder / "preprocessor_config.json").unlink()
    with pytest.raises(PolymodalError, match=r"and preprocessor_config\.json"):
        describe_backbone(str(folder))


def test_weights_kept_in_half_precision_are_used_in_full(tmp_path):
    from transformers import ViTModel

    folder = write_backbone(tmp_path, "vit")
    ViTModel.from_pretrained(folder).half().save_pretrained(folder)
    backbone = Backbone(describe_backbone(str(folder)))
    backbone.load_pretrained()
    assert {p.dtype for p in backbone.parameters()} == {torch.float32}
    assert backbone(IMAGES).dtype == torch.float32
