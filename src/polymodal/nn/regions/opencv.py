"""OpenCV, which is an extra: imported when it is used, and asked for by name where it is absent."""

from typing import Any

from polymodal.base.errors import PolymodalError


def opencv(finder: str) -> Any:
    """The module cv2 with its contributed parts."""
    try:
        import cv2
    except ImportError as error:
        raise PolymodalError(
            f"The finder {finder} needs OpenCV, which is not installed. Install it with: "
            "pip install 'polymodal[regions]'"
        ) from error
    if not hasattr(cv2, "ximgproc"):
        raise PolymodalError(
            f"The finder {finder} needs OpenCV with its contributed parts, but the one installed "
            f"({cv2.__version__}) lacks them. Remove it and install: pip install 'polymodal[regions]'"
        )
    return cv2
