"""How a learning rate falls."""

import math


def half_cosine(done: float, floor: float = 0.0) -> float:
    """What is left of a rate when a share of its steps is done: from 1 to the floor along half a cosine.

    >>> [round(half_cosine(done, 0.05), 3) for done in (0.0, 0.5, 1.0, 2.0)]
    [1.0, 0.525, 0.05, 0.05]
    """
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))
