"""Polymodal: learn from several modalities at once, and say how sure you are.

model = polymodal.load("runs/a")
model.encode_texts(["a small red cube behind a sphere"])

polymodal.diagnose("runs/b", "birds,size=64").metrics["parts_f1"]
"""

from typing import TYPE_CHECKING, Any

from polymodal.base.errors import PolymodalError
from polymodal.base.version import __version__

if TYPE_CHECKING:
    from polymodal.runs.loading import load
    from polymodal.views.diagnosis_report import diagnose

__all__ = ["PolymodalError", "__version__", "diagnose", "load"]


def __getattr__(name: str) -> Any:
    """Bring `load` and `diagnose` in only when they are asked for: torch is slow to come."""
    if name == "load":
        from polymodal.runs.loading import load

        return load
    if name == "diagnose":
        from polymodal.views.diagnosis_report import diagnose

        return diagnose
    raise AttributeError(f"module 'polymodal' has no attribute {name!r}")
