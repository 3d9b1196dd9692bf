"""What a command does about its standard output."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import NoReturn

import typer

from referee.cli.failure import EXIT_OK


def accept_every_character() -> None:
    """What a terminal, or a file in another encoding, cannot show becomes a question mark, not a failure."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def has_lines() -> bool:
    """Whether lines for boxes can be written here."""
    try:
        "┏╃≈".encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def write(text: str) -> None:
    """Writes it with all that was printed before, as far as anybody reads."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        leave_quietly()


def leave_quietly() -> NoReturn:
    """Nobody reads any more, as after ``| head``: that is no failure, and nothing is left to be said."""
    discard()
    raise typer.Exit(EXIT_OK)


def discard() -> None:
    """What is still buffered goes nowhere when Python ends."""
    with open(os.devnull, "wb") as nothing:  # noqa: PTH123 - os.devnull is no path
        os.dup2(nothing.fileno(), sys.stdout.fileno())
