"""Bencode: one value, one encoding. The canonical bytes of a tournament are made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def bencode(value: int | bytes | str | Sequence[Any]) -> bytes:
    """Return ``i5e``, ``3:abc`` or ``l...e``; text as its UTF-8."""
    if isinstance(value, int):
        return b"i%de" % value
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return b"%d:%b" % (len(value), value)
    return b"l%be" % b"".join(map(bencode, value))
