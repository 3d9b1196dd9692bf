"""The metadata of a gateway's call."""

from __future__ import annotations

from collections.abc import Sequence

from referee.server.service.auth import FOR, GATEWAY
from tests.server.service.player import bearer

Metadata = Sequence[tuple[str, str]]


def forwarded(token: str, address: str, own: str = "") -> Metadata:
    """Return the metadata that a gateway sends for a caller at ``address``, whose token is ``own``."""
    return (*(bearer(own) if own else ()), (GATEWAY, f"Bearer {token}"), (FOR, address))
