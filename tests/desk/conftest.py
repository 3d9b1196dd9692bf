"""A referee for each test module, in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.referee_process import Referee


@pytest.fixture(scope="module")
def referee(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Referee]:
    running = Referee(tmp_path_factory.mktemp("referee"))
    running.start()
    yield running
    running.stop()
