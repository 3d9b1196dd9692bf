"""How the desk reaches its terminal: it is drawn on standard output, so that standard error can go to a file."""

from __future__ import annotations

import sys
from typing import Any

from textual.drivers.linux_driver import LinuxDriver


class OutputDriver(LinuxDriver):
    """As the framework's own, which draws on standard error."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        assert sys.__stdout__ is not None  # noqa: S101 - the command has asked whether it is a terminal
        self._file = sys.__stdout__
