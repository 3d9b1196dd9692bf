"""Standard output: a command's writing, and its end when the reader has gone."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from referee.cli.shared.failure import EXIT_OK, Exit


def write(text: str) -> None:
    """Write it with all that was printed before, as long as there is a reader."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        leave_quietly()


def leave_quietly() -> NoReturn:
    """End without a failure and without a message: the reader has left, as after ``| head``."""
    discard()
    raise Exit(EXIT_OK)


def discard() -> None:
    """Discard the buffered output when Python ends."""
    with open(os.devnull, "wb") as nothing:  # noqa: PTH123 - os.devnull is no path
        os.dup2(nothing.fileno(), sys.stdout.fileno())
