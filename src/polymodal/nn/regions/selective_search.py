"""The finder `selective-search`: segments of alike colour, texture and size, joined step by step
(Uijlings et al., 2013), by OpenCV."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from jaxtyping import UInt8

from polymodal.data.image_files import threads
from polymodal.nn.regions.finding import Found, PictureFinder
from polymodal.nn.regions.opencv import opencv
from polymodal.nn.regions.overlaps import distinct

OVERLAP = 0.5
"""Intersection over union above which the smaller of two boxes is left out."""


class SelectiveSearch(PictureFinder):
    """The largest boxes of the fast search.

    OpenCV gives them in an order that it draws anew for every picture; that of area is the same each time.
    """

    def __init__(self, count: int) -> None:
        self.count, self.cv2 = count, opencv("selective-search")

    def search(self, pictures: Sequence[UInt8[np.ndarray, "_ _ 3"]]) -> list[Found]:
        """The boxes of each picture."""
        with ThreadPoolExecutor(threads(len(pictures))) as pool:
            return list(pool.map(self.one, pictures))

    def one(self, picture: np.ndarray) -> Found:
        """The boxes of one picture."""
        search = self.cv2.ximgproc.segmentation.createSelectiveSearchSegmentation()
        search.setBaseImage(np.ascontiguousarray(picture[..., ::-1]))
        search.switchToSelectiveSearchFast()
        x, y, width, height = np.asarray(search.process(), np.float32).reshape(-1, 4).T
        order = np.lexsort((x, y, width, -width * height))
        boxes = np.stack([x, y, x + width, y + height], 1)[order]
        return Found.of(boxes[distinct(boxes, self.count, OVERLAP)])
