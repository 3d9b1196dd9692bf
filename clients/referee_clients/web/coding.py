"""How bytes are sent to a browser: in the shortest form that it takes (RFC 9110, section 12.5.3)."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from typing import Final

import brotli
from starlette.requests import Request

LEAST_BYTES: Final = 600
"""What is shorter is sent as it is."""
_NONE: Final = ("q=0", "q=0.0", "q=0.00", "q=0.000")


def _brotli(data: bytes) -> bytes:
    packed: bytes = brotli.compress(data, mode=brotli.MODE_TEXT, quality=11)
    return packed


BEST: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "br": _brotli,
    "gzip": lambda data: gzip.compress(data, 9, mtime=0),
}
"""What packs once for all who ask, by its name in Content-Encoding; the first that a browser takes is the shortest.

Browsers take Brotli only from addresses that nobody on the way can change: with TLS, or from their own machine.
"""


def takes(request: Request, wanted: str) -> bool:
    """Return whether the browser takes a coding: it names it, and not to say that it does not."""
    for part in request.headers.get("accept-encoding", "").lower().split(","):
        coding, _, weight = part.partition(";")
        if coding.strip() == wanted:
            return weight.replace(" ", "") not in _NONE
    return False
