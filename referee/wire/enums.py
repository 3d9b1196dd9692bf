"""Values of the protocol's enumerations by the part of their names that tells them apart."""

from __future__ import annotations

from typing import Any, Final

_NONE: Final = "UNSPECIFIED"


def bare_name(enum: Any, number: int) -> str:
    """``STALE_HEAD``: without the prefix that all names of an enumeration share. Raise ``ValueError`` for no value."""
    return enum.Name(number).removeprefix(enum.Name(0).removesuffix(_NONE))  # type: ignore[no-any-return]


def word(enum: Any, number: int) -> str:
    """``stale_head``: the same for people, and for files that they write."""
    return bare_name(enum, number).lower()
