"""Which Polymodal this is, and which versions of what it stands on."""

from importlib.metadata import PackageNotFoundError, version

__version__ = "0.1.0"

PACKAGES = ("torch", "lightning", "transformers", "numpy", "numba")


def versions() -> dict[str, str]:
    """The versions that a result depends on."""
    found = {"polymodal": __version__}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found
