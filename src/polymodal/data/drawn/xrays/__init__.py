"""X-rays: drawn films of chests with 14 findings of known strength, and reports of them."""

from polymodal.data.drawn.xrays.xray_world import XRays, named

__all__ = ["XRays", "named"]
