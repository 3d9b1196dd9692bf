"""What of a live record these tests need beside its entries, in one place."""

from __future__ import annotations

from referee.log.replay import Record


def digest_of(record: Record | None) -> bytes:
    """Of its position."""
    assert record is not None
    return record.course.digest()
