"""Polymodal: learn from several modalities at once, and say how sure you are.

model = polymodal.load("runs/a")
model.encode_texts(["a small red cube behind a sphere"])
"""

from typing import TYPE_CHECKING, Any

from polymodal.errors import PolymodalError

if TYPE_CHECKING:
    from polymodal.loading import load

__version__ = "0.1.0"
__all__ = ["PolymodalError", "load"]


def __getattr__(name: str) -> Any:
    """Bring `load` in only when it is asked for: torch is slow to come."""
    if name == "load":
        from polymodal.loading import load

        return load
    raise AttributeError(f"module 'polymodal' has no attribute {name!r}")
