"""How a command fails: one plain line on standard error and an exit code."""

from __future__ import annotations

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
"""What typer itself exits with for words it does not know; also for input that is not what a command reads."""


class Failure(Exception):
    """Ends the command. ``message`` is one line: what is wrong, where, what was expected."""

    def __init__(self, message: str, exit_code: int = EXIT_FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code
