"""What holds for every test: no deadlines, as machines are as slow as they are; what is quick comes first."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("tile-referee", deadline=None, print_blob=True)
settings.load_profile("tile-referee")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The slow ones last; within both, the order of the files."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)
