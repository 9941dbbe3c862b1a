"""Models of transformers in folders: their tokens as maps, their global features, what they see."""

import json

import pytest
import torch

from backbones import write_model
from marks import SIZE
from polymodal.base.errors import PolymodalError
from polymodal.diagnosis.backbones import of_backbone
from polymodal.nn.feature_maps import patches
from polymodal.nn.scratch import Window

CPU = torch.device("cpu")
SCALING = {"image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.25, 0.3]}


def written(folder, model):
    """The folder of a model with random weights."""
    model.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(SCALING))
    return str(folder)


def pictures(size=SIZE):
    generator = torch.Generator().manual_seed(0)
    return torch.randint(0, 256, (2, 3, size, size), dtype=torch.uint8, generator=generator)


def scaled(images):
    mean, std = (torch.tensor(SCALING[f"image_{name}"]).view(3, 1, 1) for name in ("mean", "std"))
    return (images / 255 - mean) / std


@pytest.fixture
def vit(tmp_path):
    import transformers as t

    torch.manual_seed(0)
    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = t.ViTConfig(**small, intermediate_size=16, image_size=SIZE, patch_size=8)
    model = t.ViTModel(config, add_pooling_layer=False).eval()
    return model, written(tmp_path, model)


def test_patch_tokens_are_a_grid_and_cls_is_the_whole(vit):
    model, folder = vit
    encoder = of_backbone(folder, SIZE, CPU)
    found = encoder.look(pictures())
    with torch.no_grad():
        tokens = model(pixel_values=scaled(pictures())).last_hidden_state
    assert found.local.shape == (2, 16, 6, 6)
    assert torch.allclose(found.whole, tokens[:, 0], atol=1e-5)
    assert torch.allclose(found.local[:, :, 2, 5], tokens[:, 1 + 2 * 6 + 5], atol=1e-5)
    assert encoder.window == Window(8, 8)
    assert encoder.sight == "its patch, by convention"
    assert (encoder.size, encoder.crop) == (SIZE, 1.0)


def test_pictures_come_to_the_size_of_the_model(vit):
    found = of_backbone(vit[1], 64, CPU).look(pictures(64))
    assert found.local.shape == (2, 16, 6, 6)


@pytest.mark.parametrize(
    ("kind", "size", "side"), [("clip", 32, 2), ("siglip", 32, 2), ("dinov2", 48, 6)]
)
def test_towers_and_models_of_any_size(tmp_path, kind, size, side):
    encoder = of_backbone(str(write_model(tmp_path, kind)), SIZE, CPU)
    found = encoder.look(pictures())
    assert encoder.size == size
    assert found.whole.shape == (2, 16)
    assert found.local.shape == (2, 16, side, side)
    assert encoder.window == Window(size // side, size // side)


def test_a_convolutional_one_sees_what_it_sees(tmp_path):
    import transformers as t

    torch.manual_seed(0)
    config = t.ResNetConfig(
        embedding_size=4, hidden_sizes=[4, 6], depths=[1, 1], layer_type="basic"
    )
    encoder = of_backbone(written(tmp_path, t.ResNetModel(config)), 96, CPU)
    found = encoder.look(pictures(96))
    assert found.whole.shape == (2, 6)
    assert torch.allclose(found.whole, found.local.mean((2, 3)), atol=1e-5)
    # 7×7 by two, 3×3 by two, two of 3×3, then two of 3×3 of which the first by two
    assert encoder.window == Window(size=7 + 2 * 2 + 4 * 4 + 2 * 4 + 2 * 8, step=8, start=-25)
    assert encoder.sight == "measured"


def test_merged_patches(tmp_path):
    import transformers as t

    torch.manual_seed(0)
    config = t.SwinConfig(
        image_size=64, patch_size=4, embed_dim=4, depths=[1, 1], num_heads=[1, 1], window_size=4
    )
    found = of_backbone(written(tmp_path, t.SwinModel(config)), SIZE, CPU).look(pictures())
    assert found.local.shape == (2, 8, 8, 8)


def test_tokens_that_are_no_square(vit):
    with pytest.raises(PolymodalError, match="gave 30 tokens for pictures of 48×48"):
        patches(vit[0].config, SIZE, 30)


def test_what_is_no_model(tmp_path):
    with pytest.raises(PolymodalError, match="No image model could be opened at"):
        of_backbone(str(tmp_path), SIZE, CPU)
