"""Questions are read line by line, and each answer is written at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

from cyclopts import Parameter

from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.output import leave_quietly
from referee.text.notation.questions import MAX_LINE_BYTES, Lines

_PIECE = 1 << 16
"""Bytes read at once; lines that came together are passed on together, so a program that waits gets its answers at
once."""

Questions = Annotated[Path | None, Parameter(name="FILE", help="File with the questions; standard input if omitted.")]
Strict = Annotated[bool, Parameter(name="--strict", help="Exit with 1 if any answer was an error.")]


def opened(file: Path | None) -> BinaryIO:
    """Return the file, or standard input. Raise ``Failure``."""
    if file is not None:
        try:
            return file.open("rb")
        except OSError as error:
            raise Failure(f"{file}: {error.strerror}", EXIT_USAGE) from None
    if sys.stdin is None:
        raise Failure("standard input is closed; expected questions on it, or a FILE", EXIT_USAGE)
    return sys.stdin.buffer


def read(stream: BinaryIO, most: int = _PIECE) -> bytes:
    """Return what is there, at least a byte; nothing at the end. Raise ``Failure``."""
    try:
        return stream.read1(most)  # type: ignore[attr-defined,no-any-return]
    except OSError as error:
        name = "standard input" if sys.stdin is not None and stream is sys.stdin.buffer else stream.name
        raise Failure(f"{name}: {error.strerror}", EXIT_USAGE) from None


def read_all(stream: BinaryIO, most: int) -> bytes:
    """Return everything, or the first ``most`` bytes. Raise ``Failure``."""
    data = b""
    while len(data) < most and (piece := read(stream, most - len(data))):
        data += piece
    return data


def batches(stream: BinaryIO, most: int = MAX_LINE_BYTES) -> Iterator[list[bytes]]:
    """Yield its lines, as they come together, each cut at ``most`` bytes. Raise ``Failure``."""
    lines = Lines(most)
    while piece := read(stream):
        yield lines.feed(piece)
    yield lines.end()


def write(data: bytes) -> None:
    """Write to standard output, at once, as long as there is a reader."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        leave_quietly()
