"""The finder `opencv:FOLDER`: a single-shot detector in TensorFlow's files, run by OpenCV.

The folder holds a frozen graph (*.pb) and its text form for OpenCV (*.pbtxt), whose last node is a
DetectionOutput. Its threshold is not used: boxes and all class scores are read before it.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float, UInt8

from polymodal.base.errors import PolymodalError
from polymodal.nn.regions.finding import Found, PictureFinder
from polymodal.nn.regions.opencv import opencv
from polymodal.nn.regions.overlaps import distinct

SIDE = 300
"""Pixels of a side of what the network sees."""

OVERLAP = 0.6
"""Intersection over union above which the less certain of two boxes is left out."""


class OpenCVDetector(PictureFinder):
    """The boxes that most likely hold some object, however unlikely, with the score of each class."""

    def __init__(self, source: str, count: int) -> None:
        cv2 = opencv("opencv")
        graph, text = (one_file(Path(source), kind) for kind in ("*.pb", "*.pbtxt"))
        self.count, self.cv2 = count, cv2
        self.classes, self.outputs = detection_output(text)
        try:  # the newer engine gives a network's last output alone
            self.net = cv2.dnn.readNetFromTensorflow(str(graph), str(text), cv2.dnn.ENGINE_CLASSIC)
        except cv2.error as error:
            raise PolymodalError(
                f"{source}: OpenCV cannot read this network ({str(error).splitlines()[0]}). Give a "
                "frozen graph of TensorFlow and the pbtxt that was made of it for OpenCV."
            ) from error

    def search(self, pictures: Sequence[UInt8[np.ndarray, "_ _ 3"]]) -> list[Found]:
        """The boxes of each picture."""
        whole = [np.ascontiguousarray(picture) for picture in pictures]
        blob = self.cv2.dnn.blobFromImages(whole, 1.0, (SIDE, SIDE))
        self.net.setInput(blob)
        offsets, scores, priors = self.net.forward(list(self.outputs))
        b = len(pictures)
        anchors, variances = priors.reshape(2, -1, 4)
        scores = scores.reshape(b, -1, self.classes)
        found = []
        for picture, moved, likely in zip(pictures, offsets.reshape(b, -1, 4), scores, strict=True):
            sides = np.array(picture.shape[1::-1] * 2, np.float32)
            boxes = np.clip(decoded(moved * variances, anchors), 0, 1) * sides
            best = likely[:, 1:].max(1)  # the first class is the background
            order = np.argsort(-best, kind="stable")
            order = order[(boxes[order, 2:] - boxes[order, :2] >= 1).all(1)]
            kept = order[distinct(boxes[order], self.count, OVERLAP)]
            extra = np.concatenate([likely[kept], best[kept, None]], 1)
            found.append(Found(boxes[kept].astype(np.float32), extra.astype(np.float32)))
        return found


def decoded(
    offsets: Float[np.ndarray, "n 4"], anchors: Float[np.ndarray, "n 4"]
) -> Float[np.ndarray, "n 4"]:
    """Boxes from how far centre and size of each lie from those of its anchor."""
    size = anchors[:, 2:] - anchors[:, :2]
    centre = (anchors[:, 2:] + anchors[:, :2]) / 2 + offsets[:, :2] * size
    half = np.exp(offsets[:, 2:]) * size / 2
    return np.concatenate([centre - half, centre + half], 1)


def one_file(folder: Path, kind: str) -> Path:
    """The only file of a kind in a folder."""
    found = sorted(folder.glob(kind))
    if len(found) != 1:
        raise PolymodalError(
            f"opencv:{folder}: expected one file {kind} in this folder, found {len(found)}. Put a "
            "frozen graph (*.pb) and its text form (*.pbtxt) there, alone."
        )
    return found[0]


def detection_output(text: Path) -> tuple[int, tuple[str, str, str]]:
    """The number of classes, background included, and the layers of offsets, scores and anchors."""
    for node in re.split(r"^node \{", text.read_text("utf-8", "replace"), flags=re.MULTILINE):
        if re.search(r'op: "DetectionOutput"', node):
            inputs = re.findall(r'^\s*input: "([^"]+)"', node, re.MULTILINE)
            classes = re.search(r'key: "num_classes"\s*value \{\s*i: (\d+)', node)
            if len(inputs) == 3 and classes:
                return int(classes.group(1)), (inputs[0], inputs[1], inputs[2])
    raise PolymodalError(
        f"{text}: it has no DetectionOutput with offsets, scores, anchors and num_classes, so it is no "
        "single-shot detector that OpenCV's tf_text_graph_ssd.py described. Give one that is."
    )
