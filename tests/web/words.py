"""What `referee web` says of itself."""

from __future__ import annotations

import re


def address_in(line: str) -> str:
    """Return the address in the line with which the gateway says that it is ready."""
    found = re.fullmatch(r"Pages are at (https?://\S+)/\n", line)
    assert found is not None, line
    return found[1]
