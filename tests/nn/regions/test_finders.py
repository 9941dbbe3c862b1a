"""Finders of regions: selective search; detectors of OpenCV and of transformers."""

import json
import sys

import numpy as np
import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.data.proposals import there
from polymodal.maths.boxes import iou
from polymodal.nn import regions
from polymodal.nn.regions.opencv_detector import OpenCVDetector, decoded

SIZE = 64
PLACES = np.array([[8, 8, 28, 36], [36, 30, 60, 52]])


def scenery(rows):
    """Two rectangles of plain colour on a ground of another."""
    found = np.full((len(rows), SIZE, SIZE, 3), 60, np.uint8)
    for picture, row in zip(found, rows, strict=True):
        for (x0, y0, x1, y1), colour in zip(
            PLACES + row % 3, ((220, 40, 30), (40, 60, 230)), strict=True
        ):
            picture[y0:y1, x0:x1] = colour
    return found


def test_selective_search_finds_what_stands_out():
    pytest.importorskip("cv2")
    plan = regions.describe(finder="selective-search", count=8)
    boxes, features = regions.propose(scenery([0, 1]), plan)
    for row, some in enumerate(boxes):
        real = torch.from_numpy(some[there(some)])
        true = torch.from_numpy(PLACES + row).float()
        assert (iou(true, real).amax(1) > 0.7).all()
        assert (iou(real, real) - torch.eye(len(real))).max() <= 0.5
    assert not features[~there(boxes)].any()
    same, _ = regions.propose(scenery([1]), plan)
    np.testing.assert_array_equal(same[0], boxes[1])


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(
        PolymodalError, match=r"selective-search needs OpenCV.*polymodal\[regions\]"
    ):
        regions.propose(scenery([0]), regions.describe(finder="selective-search", count=3))
    monkeypatch.setitem(sys.modules, "cv2", type(sys)("cv2"))
    sys.modules["cv2"].__version__ = "4.0"
    with pytest.raises(
        PolymodalError, match=r"contributed parts, but the one installed \(4.0\) lacks"
    ):
        regions.propose(scenery([0]), regions.describe(finder="selective-search", count=4))


GRAPH = """node {
  name: "scores"
  op: "Sigmoid"
}
node {
  name: "detection_out"
  op: "DetectionOutput"
  input: "offsets"
  input: "scores"
  input: "anchors"
  attr {
    key: "num_classes"
    value {
      i: 3
    }
  }
}
"""


class Network:
    """What OpenCV gives, of three anchors and two classes: the second and third lie upon each other."""

    anchors = np.array([[0, 0, 0.5, 0.5], [0.25, 0.25, 0.75, 1], [0.25, 0.25, 0.75, 1]])
    scores = np.array([[0.9, 0.02, 0.1], [0.1, 0.2, 0.01], [0.1, 0.3, 0.7]])

    def setInput(self, blob):  # noqa: N802
        self.b = len(blob)

    def forward(self, names):
        assert names == ["offsets", "scores", "anchors"]
        variances = np.full((3, 4), 0.1)
        priors = np.stack([self.anchors, variances]).reshape(1, 2, -1)
        offsets = np.zeros((self.b, 12))
        return offsets, np.tile(self.scores.reshape(1, -1), (self.b, 1)), priors


def test_a_detector_of_opencv_gives_boxes_with_all_scores(monkeypatch, tmp_path):
    cv2 = pytest.importorskip("cv2")
    (tmp_path / "a.pb").touch()
    (tmp_path / "a.pbtxt").write_text(GRAPH)
    monkeypatch.setattr(cv2.dnn, "readNetFromTensorflow", lambda *given: Network())
    plan = regions.describe(finder=f"opencv:{tmp_path}", count=4, encoder="none")
    boxes, features = regions.propose(scenery([0, 1]), plan)
    assert boxes[1].tolist() == [[16, 16, 48, 64], [0, 0, 32, 32], [0] * 4, [0] * 4]
    np.testing.assert_allclose(features[0, :2], [[0.1, 0.3, 0.7, 0.7], [0.9, 0.02, 0.1, 0.1]])
    assert not features[0, 2:].any()


def test_boxes_are_decoded_from_their_anchors():
    random = np.random.default_rng(0)
    centre, size = random.uniform(0.3, 0.7, (5, 2)), random.uniform(0.1, 0.4, (5, 2))
    anchors = np.tile([[0.2, 0.3, 0.6, 0.5]], (5, 1))
    offsets = np.concatenate([(centre - [0.4, 0.4]) / [0.4, 0.2], np.log(size / [0.4, 0.2])], 1)
    wanted = np.concatenate([centre - size / 2, centre + size / 2], 1)
    np.testing.assert_allclose(decoded(offsets, anchors), wanted)


def test_what_is_no_detector_of_opencv(tmp_path):
    pytest.importorskip("cv2")
    with pytest.raises(PolymodalError, match=r"expected one file \*.pb in this folder, found 0"):
        OpenCVDetector(str(tmp_path), 3)
    (tmp_path / "a.pb").write_bytes(b"no graph")
    (tmp_path / "a.pbtxt").write_text("node {\n  name: 'a'\n}")
    with pytest.raises(PolymodalError, match=r"a.pbtxt: it has no DetectionOutput with offsets"):
        OpenCVDetector(str(tmp_path), 3)
    (tmp_path / "a.pbtxt").write_text(GRAPH)
    with pytest.raises(PolymodalError, match="OpenCV cannot read this network"):
        OpenCVDetector(str(tmp_path), 3)


def write_detector(folder, kind):
    """A tiny detector of transformers, its weights drawn at random."""
    import transformers as t

    torch.manual_seed(0)
    backbone = t.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 8, 12], depths=[1, 1, 1], layer_type="basic",
        out_features=["stage1", "stage2", "stage3"] if kind == "rt_detr" else ["stage3"],
    )  # fmt: skip
    small = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "num_labels": 3,
             "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 16,
             "decoder_ffn_dim": 16, "num_queries": 9}  # fmt: skip
    wide = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
    }
    make = {
        "detr": lambda: t.DetrForObjectDetection(
            t.DetrConfig(backbone_config=backbone, use_timm_backbone=False, **small)
        ),
        "rt_detr": lambda: t.RTDetrForObjectDetection(
            t.RTDetrConfig(
                backbone_config=backbone,
                encoder_hidden_dim=16,
                encoder_in_channels=[8, 8, 12],
                decoder_in_channels=[16] * 3,
                hidden_expansion=0.5,
                **small,
            )
        ),
        "owlv2": lambda: t.Owlv2ForObjectDetection(
            t.Owlv2Config(
                text_config={**wide, "vocab_size": 9},
                vision_config={**wide, "image_size": 64, "patch_size": 16},
                projection_dim=8,
            )
        ),
    }
    make[kind]().save_pretrained(folder)
    told = {"size": {"height": 64, "width": 64}, "do_normalize": kind != "rt_detr"}
    told |= {"image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.25, 0.3]}
    (folder / "preprocessor_config.json").write_text(json.dumps(told))
    return folder


@pytest.mark.parametrize(("kind", "scores"), [("detr", 3), ("rt_detr", 3), ("owlv2", 1)])
def test_detectors_of_transformers(tmp_path, kind, scores):
    write_detector(tmp_path, kind)
    plan = regions.describe(finder=f"transformers:{tmp_path}", count=6, encoder="none")
    boxes, features = regions.propose(scenery([0, 1]), plan)
    real = there(boxes)
    assert real.any(1).all()
    assert ((boxes >= 0) & (boxes <= SIZE)).all()
    assert features.shape == (2, 6, scores)
    assert ((features[real] >= 0) & (features[real] <= 1)).all()
    best = features[0, real[0]].max(1)
    if kind != "detr":  # where what is left of one is that of no object
        np.testing.assert_array_equal(best, np.sort(best)[::-1])
    one, same = regions.propose(scenery([1]), plan)
    np.testing.assert_allclose(one[0], boxes[1], atol=1e-3)
    np.testing.assert_allclose(same[0], features[1], atol=1e-5)


def test_what_is_no_detector_of_transformers(tmp_path):
    with pytest.raises(PolymodalError, match="No detector could be opened at"):
        regions.propose(scenery([0]), regions.describe(finder=f"transformers:{tmp_path}"))
    folder = write_detector(tmp_path / "detr", "detr")
    config = json.loads((folder / "config.json").read_text())
    config |= {"backbone_config": None, "use_timm_backbone": True, "backbone": "resnet18"}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(PolymodalError, match=r"needs packages that are not installed.*\[vision\]"):
        regions.propose(scenery([0]), regions.describe(finder=f"transformers:{folder}"))
