"""Parts of a live record that these tests need beside its entries, in one place."""

from __future__ import annotations

from referee.log.replay import Record


def digest_of(record: Record | None) -> bytes:
    """Return the digest of its position."""
    assert record is not None
    return record.game.position.digest()
