"""Which Polymodal this is, and which versions of what it stands on."""

from importlib.metadata import PackageNotFoundError, version

__version__ = "0.1.0"

PACKAGES = ("torch", "lightning", "transformers", "numpy", "numba")


def versions() -> dict[str, str]:
    """The versions that a result depends on."""
    packages = {"polymodal": __version__}
    for name in PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = "absent"
    return packages
