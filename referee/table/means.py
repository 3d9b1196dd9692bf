"""What every table of a referee has in common."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from referee.log.engines import Engines
from referee.log.entry import MAX_ENTRIES
from referee.log.note import CheckpointSigner
from referee.store.store import Store


def now_ms() -> int:
    """Milliseconds since 1970: what an entry is stamped with."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Means:
    """Where entries go, who signs heads, which rules there are."""

    store: Store
    signer: CheckpointSigner
    engines: Engines
    max_entries: int = MAX_ENTRIES
    now_ms: Callable[[], int] = now_ms
