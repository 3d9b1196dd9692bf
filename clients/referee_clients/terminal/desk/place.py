"""Which referee the games of a desk are entered at, and what may be declared there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from referee_clients.sdk.channel import Security

ReadComponents = Callable[[str, Path], bytes]
"""The exact bytes of a game's components, from a file. Raises ``ValueError``, in words."""


@dataclass(frozen=True, slots=True)
class Place:
    """A referee."""

    address: str
    token: str = field(repr=False)
    """The organiser's, which opens games; empty: none can be opened."""
    security: Security
    server: str = ""
    """As the scribe named it; empty for the desk's own."""
