"""Polymodal: learn from several modalities at once, and say how sure you are.

model = polymodal.load("runs/a")
model.encode_texts(["a small red cube behind a sphere"])

polymodal.diagnose("runs/b", "birds,size=64").metrics["parts_f1"]
"""

from typing import TYPE_CHECKING, Any

from polymodal.errors import PolymodalError

if TYPE_CHECKING:
    from polymodal.diagnosis.diagnosing import diagnose
    from polymodal.loading import load

__version__ = "0.1.0"
__all__ = ["PolymodalError", "diagnose", "load"]


def __getattr__(name: str) -> Any:
    """Bring `load` and `diagnose` in only when they are asked for: torch is slow to come."""
    if name == "load":
        from polymodal.loading import load

        return load
    if name == "diagnose":
        from polymodal.diagnosis.diagnosing import diagnose

        return diagnose
    raise AttributeError(f"module 'polymodal' has no attribute {name!r}")
