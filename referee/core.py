"""The compiled core, where it is installed: whether it is there, and made from the sources that it stands in for."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent


class StaleCore(ImportError):
    """The compiled core was made from other sources. Nothing of it may answer for these."""


def is_compiled() -> bool:
    """Return whether this Python takes compiled modules in place of the sources here."""
    return any((_ROOT / "referee" / "games" / f"values{suffix}").exists() for suffix in EXTENSION_SUFFIXES)


def check(sources: Mapping[str, str]) -> None:
    """Raise ``StaleCore`` if the core is in use and was not made from the sources here.

    ``sources``: by path, the SHA-256 that each had, in hex.
    """
    if not is_compiled():
        return
    for path, digest in sources.items():
        try:
            found = sha256((_ROOT / path).read_bytes()).hexdigest()
        except FileNotFoundError:
            found = ""
        if found != digest:
            raise StaleCore(
                "The compiled core is of another version than tile-referee, so nothing is judged with it. Install "
                "tile-referee-compiled of the same version, or remove it: pip uninstall tile-referee-compiled"
            )
