"""Pictures written one a file, with what is said of each, so that `folder:` reads them as data."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.base.files import check_folder, write_bytes, write_text
from polymodal.base.locks import is_empty, writing


def write_pictures(
    folder: Path, pictures: Iterable[tuple[str, UInt8[np.ndarray, "h w 3"], Iterable[str]]]
) -> None:
    """Write each picture under its name, and a captions.csv beside them, last; the folder must be new."""
    content = io.StringIO()
    lines = csv.writer(content, lineterminator="\n")
    lines.writerow(["image", "caption"])
    with writing(folder):
        check_new(folder)
        for name, image, captions in pictures:
            png = io.BytesIO()
            Image.fromarray(image).save(png, "PNG")
            write_bytes(folder / name, png.getvalue())
            lines.writerows([name, caption] for caption in captions)
        write_text(folder / "captions.csv", content.getvalue())


def check_new(folder: Path) -> None:
    """Refuse a folder that has something in it, or that cannot be written."""
    check_folder(folder)
    if not is_empty(folder):
        raise PolymodalError(f"{folder} is there already, and not empty. Name another folder.")
