"""Pictures written one a file, with what is said of each, so that `folder:` reads them as data."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from polymodal.base.files import write_bytes, write_text


def write_pictures(
    folder: Path, pictures: Iterable[tuple[str, UInt8[np.ndarray, "h w 3"], Iterable[str]]]
) -> None:
    """Write each picture under its name, and a captions.csv beside them, last."""
    content = io.StringIO()
    lines = csv.writer(content, lineterminator="\n")
    lines.writerow(["image", "caption"])
    for name, image, captions in pictures:
        png = io.BytesIO()
        Image.fromarray(image).save(png, "PNG")
        write_bytes(folder / name, png.getvalue())
        lines.writerows([name, caption] for caption in captions)
    write_text(folder / "captions.csv", content.getvalue())
