"""A game's file to show; and the logging of a referee in this process, kept out of the command's output."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.rule import club
from tests.log.games import Played
from tests.server.service.conftest import logged

__all__ = ["club", "logged"]


@pytest.fixture(scope="module")
def whole(played: Played, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of the module's game."""
    file = tmp_path_factory.mktemp("show") / "whole.gamelog"
    file.write_bytes(played.file())
    return file
