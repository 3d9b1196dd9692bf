"""What an auditor is told beforehand. By itself, as the compiled core leaves out dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from referee.log.note import Checkpoint, VerifierKey


@dataclass(frozen=True)
class Policy:
    """Whom the caller trusts."""

    verifier: VerifierKey | None = None
    """The referee's. Without it nothing can be COMPLETE."""
    seat_keys: Mapping[int, bytes] = field(default_factory=dict)
    """Public keys of seats, where known from elsewhere."""
    scribe_keys: Mapping[int, bytes] = field(default_factory=dict)
    receipts: tuple[bytes, ...] = ()
    """Signed checkpoints of this game that somebody was given."""
    logged: tuple[Checkpoint, ...] = ()
    """Heads that a public log has; those of other games are passed over."""
