"""A referee for all of them, in a process of its own: no test changes it, or reads what another has opened."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.referee_process import Referee


@pytest.fixture(scope="session")
def everybodys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Referee]:
    running = Referee(tmp_path_factory.mktemp("referee"))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def referee(everybodys: Referee) -> Iterator[Referee]:
    """It runs again after a test that stopped it, and then failed."""
    yield everybodys
    if not everybodys.is_running:
        everybodys.start()
