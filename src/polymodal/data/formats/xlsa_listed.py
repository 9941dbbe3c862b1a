"""Datasets that xlsa17 itself lists: AWA2 and SUN, whose own files give the pictures no order.

`res101.mat` beside `att_splits.mat` has them: `image_files`, as paths of the machine on which it was
written, and `labels`, in the order in which the splits count. Its features are not read.
"""

import numpy as np
from jaxtyping import Int64

from polymodal.base.errors import PolymodalError
from polymodal.data.classes import in_words
from polymodal.data.formats.archive import find
from polymodal.data.formats.class_listing import Listing
from polymodal.data.formats.entry import Entry
from polymodal.data.formats.mat import read_mat, strings, whole
from polymodal.data.formats.xlsa17 import Benchmark

FILE = "res101.mat"


def read_listed(benchmark: Benchmark, folder: str, attribute_names: tuple[str, ...]) -> Listing:
    """The images that `res101.mat` lists.

    Args:
        benchmark: the splits, in whose folder it is.
        folder: where the dataset has its images; of each path, what follows this folder counts.
        attribute_names: as the dataset gives them.
    """
    images, labels = _images(benchmark)
    classes, path = benchmark.classes, benchmark.source.path / FILE
    return Listing(
        entries=tuple(
            Entry(
                image=_tail(image, folder, where := f"{path}: image_files({number})"),
                captions=(in_words(classes[label]),),
                where=where,
                places=(folder,),
            )
            for number, (image, label) in enumerate(zip(images, labels, strict=True), start=1)
        ),
        labels=labels,
        classes=classes,
        attributes=benchmark.attributes,
        attribute_names=attribute_names,
    )


def _images(benchmark: Benchmark) -> tuple[tuple[str, ...], Int64[np.ndarray, " n"]]:
    """The path of each image, and its class, counted from 0."""
    path = benchmark.source.path / FILE
    if find(benchmark.source, FILE) is None:
        raise PolymodalError(
            f"{path}: there is no such file. It lists the images in the order in which the splits "
            "count. Copy it from xlsa17."
        )
    arrays = read_mat(benchmark.source, FILE, "image_files", "labels")
    images = strings(arrays["image_files"], f"{path}: image_files")
    labels = whole(arrays["labels"], f"{path}: labels")
    if len(labels) != len(images):
        raise PolymodalError(
            f"{path}: expected a label an image, found {len(images)} image_files and {len(labels)} "
            "labels. Copy the file again."
        )
    count = len(benchmark.classes)
    wrong = np.flatnonzero((labels < 1) | (labels > count))
    if len(wrong):
        raise PolymodalError(
            f"{path}: labels({wrong[0] + 1}) is {labels[wrong[0]]}, but there are {count} classes. "
            "Copy the file again."
        )
    return images, labels - 1


def _tail(path: str, folder: str, where: str) -> str:
    """What follows the dataset's folder in the path of an image on another machine."""
    _, separator, tail = path.rpartition(f"/{folder}/")
    if not separator:
        raise PolymodalError(
            f"{where}: expected a path with /{folder}/ in it, found {path!r}. Copy the file again."
        )
    return tail
