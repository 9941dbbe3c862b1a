"""From linear light to the bytes of a picture."""

import numpy as np

from polymodal.data.drawn.kernel.compiling import helper


@helper
def curve(amount: float) -> float:
    """Turn linear light into a screen's value: a root, with a soft shoulder below white."""
    value = np.sqrt(amount)
    return value if value < 0.8 else 1.0 - 0.04 / (value - 0.6)


@helper
def byte(value: float) -> np.uint8:
    """Round a value in [0, 1] to a byte."""
    return np.uint8(min(max(value, 0.0), 1.0) * 255.0 + 0.5)
