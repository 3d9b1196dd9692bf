"""What tests of an operator's commands share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.cli.operators.day import Day
from tests.server.service.conftest import running


@pytest.fixture
async def day(tmp_path: Path) -> AsyncIterator[Day]:
    async with running(tmp_path / "data") as (server, client):
        yield Day(tmp_path, server.address, client)
