"""Every store that there is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from referee.server.store.sqlite import SqliteStore
from referee.server.store.store import Store
from tests.server.store.memory import MemoryStore
from tests.server.store.postgres import on_postgres


@pytest.fixture(params=["sqlite", "postgresql", "memory"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    opened: dict[str, Callable[[], Store]] = {
        "memory": MemoryStore,
        "sqlite": lambda: SqliteStore(tmp_path / "referee.db", busy_s=0.01),
        "postgresql": lambda: on_postgres(request.getfixturevalue("postgres").emptied(), tmp_path),
    }
    store = opened[request.param]()
    yield store
    await store.close()
