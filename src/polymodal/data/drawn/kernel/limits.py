"""How much can be asked of a drawn world."""

from polymodal.base.errors import PolymodalError

MOST_IMAGES = 10_000_000
"""The most images of a split."""


def check_limits(*, size: int, seed: int, usual: int, **counts: int) -> None:
    """Refuse a size, a seed or counts of images that cannot be drawn, and say which can.

    Args:
        size: width and height of the images.
        seed: the start of all randomness.
        usual: a size to propose.
        counts: how many images each split has.
    """
    for name, count in counts.items():
        if count > MOST_IMAGES:
            raise PolymodalError(
                f"{name} is {count:,} images, but at most {MOST_IMAGES:,} are drawn. Give fewer."
            )
    if seed < 0:
        raise PolymodalError(f"seed is {seed}. Give 0 or more.")
    if not isinstance(size, int) or not 16 <= size <= 4096:
        raise PolymodalError(
            f"size is {size!r}, but images are square and from 16 to 4096 pixels wide. "
            f"Give one number, such as {usual}."
        )
