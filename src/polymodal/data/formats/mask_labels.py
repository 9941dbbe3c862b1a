"""The numbers of a mask's file as the classes of a dataset."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Shaped, UInt8


def places_of(classes: Sequence[str]) -> dict[int, int]:
    """The class of each number where files count classes from 0; of two, the second may also be 255.

    >>> places_of(["background", "tumour"])
    {0: 0, 1: 1, 255: 1}
    """
    found = {number: number for number in range(len(classes))}
    return found | {255: 1} if len(classes) == 2 else found


def as_classes(
    values: Shaped[np.ndarray, "*shape"], places: Mapping[int, int], classes: Sequence[str]
) -> UInt8[np.ndarray, "*shape"] | str:
    """The class of each number, or what is wrong with them in words.

    >>> as_classes(np.array([0, 255]), {0: 0, 255: 1}, ["background", "tumour"])
    array([0, 1], dtype=uint8)
    """
    there = np.unique(values)
    strange = [f"{value:g}" for value in there.tolist() if value not in places]
    if strange:
        known = ", ".join(f"{number} {classes[place]}" for number, place in places.items())
        return (
            f"the mask has unknown labels: {', '.join(strange[:5])}{', …' * (len(strange) > 5)}. "
            f"Known: {known}. Save the mask without loss and with these numbers."
        )
    found = np.zeros(values.shape, np.uint8)
    for number in there.tolist():
        found[values == number] = places[int(number)]
    return found
