"""Pieces of markup: text made harmless, numbers for people, pictures inside the page."""

import base64
import html
import io
import math
import re

import numpy as np
from jaxtyping import UInt8
from PIL import Image

CRISP = 96
"""Pictures up to this many pixels a side are kept exact, as PNG, and enlarged without blur."""

QUALITY = 90
"""Of the JPEG that larger pictures become."""

CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")


def escape(text: object) -> str:
    """Text that can stand in an element or an attribute and be nothing but text.

    >>> escape('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    whole = str(text).encode("utf-8", "replace").decode()  # a lone surrogate cannot be written
    return html.escape(CONTROLS.sub("\ufffd", whole), quote=True)


def number(value: float) -> str:
    """A number with as many digits as one reads, or a dash where there is none.

    >>> number(41.237), number(0.0213), number(1234.5), number(float("nan"))
    ('41.2', '0.021', '1,234.5', '–')
    """
    if not math.isfinite(value):
        return "–"
    return f"{value:,.1f}" if abs(value) >= 1 or value == 0 else f"{value:.2g}"


def data_uri(image: UInt8[np.ndarray, "h w 3"], pixels: int | None = None) -> str:
    """An image as a data URI, its longer side made `pixels` long if it is longer."""
    small = Image.fromarray(image)
    if pixels is not None:
        small.thumbnail((pixels, pixels), Image.Resampling.LANCZOS)
    content = io.BytesIO()
    if max(small.size) <= CRISP:
        kind = "png"
        small.save(content, "PNG", optimize=True)
    else:
        kind = "jpeg"
        small.save(content, "JPEG", quality=QUALITY, subsampling=0, optimize=True)
    return f"data:image/{kind};base64,{base64.b64encode(content.getvalue()).decode()}"


def picture(
    image: UInt8[np.ndarray, "h w 3"], alt: str, *, title: str = "", pixels: int | None = None
) -> str:
    """An <img> that carries its own pixels."""
    height, width = image.shape[:2]
    small = max(height, width) <= CRISP
    return (
        f'<img src="{data_uri(image, pixels)}" width="{width}" height="{height}" alt="{escape(alt)}"'
        + (f' title="{escape(title)}"' if title else "")
        + (' class="crisp">' if small else ">")
    )
