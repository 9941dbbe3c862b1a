"""The streams of an item's random numbers: what is drawn in one never shifts what is drawn in another."""

from polymodal.data.drawn.kernel.compiling import helper

CODES, COAT, POSE, LIGHT, NOISE, LAND, PERCH, COVER = 0, 1, 2, 3, 4, 5, 6, 7


@helper
def between(number: float, low: float, high: float) -> float:
    """A random number of [0, 1) as one of [low, high)."""
    return low + (high - low) * number
