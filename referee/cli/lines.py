"""How commands that answer line by line read and write."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from referee.cli.failure import EXIT_USAGE, Failure
from referee.cli.output import leave_quietly
from referee.notation.lines import Lines

_PIECE = 1 << 16
"""Bytes read at once; what came together is given together, so a program that waits gets its answers at once."""

Questions = Annotated[
    Path | None, typer.Argument(metavar="[FILE]", help="Where the questions are; without it, standard input.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 if any answer was an error.")]


def opened(file: Path | None) -> BinaryIO:
    """The file, or standard input. Raises ``Failure``."""
    if file is not None:
        try:
            return file.open("rb")
        except OSError as error:
            raise Failure(f"{file}: {error.strerror}", EXIT_USAGE) from None
    if sys.stdin is None:
        raise Failure("standard input is closed; expected questions there, or a FILE", EXIT_USAGE)
    return sys.stdin.buffer


def batches(file: Path | None) -> Iterator[list[bytes]]:
    """The lines of the file or of standard input, as they come together. Raises ``Failure``."""
    lines = Lines()
    with opened(file) as stream:
        while piece := _read(stream, file):
            yield lines.feed(piece)
    yield lines.end()


def _read(stream: BinaryIO, file: Path | None) -> bytes:
    try:
        return stream.read1(_PIECE)  # type: ignore[attr-defined,no-any-return]
    except OSError as error:
        raise Failure(f"{file or 'standard input'}: {error.strerror}", EXIT_USAGE) from None


def write(data: bytes) -> None:
    """To standard output, at once, as far as anybody reads."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        leave_quietly()
