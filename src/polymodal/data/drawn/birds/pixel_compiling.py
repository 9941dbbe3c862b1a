"""How what is done for each pixel is compiled."""

from collections.abc import Callable
from typing import Any

import numba


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function into the code of its callers.

    A call would hand over every array of a picture anew for each pixel, which takes longer than
    the work. No fastmath, as elsewhere: an image is the same on every machine.
    """
    return numba.njit(nogil=True, error_model="numpy", forceinline=True)(function)
