"""``referee inspect``: answers questions about layouts and scores, a JSON object a line. No server, no game."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from referee.cli.failure import EXIT_FAILED, EXIT_USAGE, Failure
from referee.cli.output import leave_quietly
from referee.notation.inspect import Lines, answer, encode

_PIECE = 1 << 16
"""Bytes read at once; what came together is answered together, so a program that waits gets its answer at once."""


def inspect(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Where the questions are; without it, standard input.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if any answer was an error.")] = False,
) -> None:
    """Answer questions about layouts and scores: a JSON object a line in, one a line out, in the same order.

    A layout: tiles by cell, "x,y" with x to the east and y to the south; the fountain at 0,0 is implied.

        {"game":"alhambra","layout":{"0,-1":"pavilion-2-NEW"},"tile":"tower-8-NES"}

        {"valid":true,"violations":[],"wall":3,"counts":{"pavilion":1},
        "placements":[[1,0]],"removable":[[0,-1]],"swappable":[]}

    "tile" is optional: a tile in hand, to be placed or to replace a tile of the layout (another one, if it lies there
    itself); without it the answer has neither placements nor swappable. "options":{"loop_one_less":true} counts a wall
    that closes on itself one less. A layout against the rules is answered with valid false, its violations and counts.

    A score: what each of 2 to 6 players has in the Alhambra; with two, the neutral player may be there,
    which is "neutral" among the players of a line. Points include the wall.

        {"game":"alhambra","score":{"round":2,"players":[
        {"counts":{"tower":4},"wall":7},{"counts":{},"wall":3}]}}

        {"points":[20,3],
        "lines":[{"type":"tower","place":1,"players":[0],"each":13}]}

    An "id" (a string, number, true, false or null) comes back with the answer. A line that cannot be answered gets
    {"error":"…"}, and the rest goes on; the exit code is 0 all the same, unless --strict is given.
    """
    errors = False
    try:
        with _opened(file) as questions:
            errors = _answer_all(questions, sys.stdout.buffer)
    except BrokenPipeError:
        leave_quietly()
    except OSError as error:
        raise Failure(f"{file or 'standard input'}: {error.strerror}", EXIT_USAGE) from None
    if strict and errors:
        raise typer.Exit(EXIT_FAILED)


def _opened(file: Path | None) -> BinaryIO:
    if file is not None:
        return file.open("rb")
    if sys.stdin is None:
        raise Failure("standard input is closed; expected questions there, or a FILE", EXIT_USAGE)
    return sys.stdin.buffer


def _answer_all(questions: BinaryIO, out: BinaryIO) -> bool:
    """Whether there was an error answer."""
    lines = Lines()
    errors = False
    while piece := questions.read1(_PIECE):  # type: ignore[attr-defined]
        errors |= _answer_lines(lines.feed(piece), out)
    return _answer_lines(lines.end(), out) or errors


def _answer_lines(lines: list[bytes], out: BinaryIO) -> bool:
    answers = [answer(line) for line in lines]
    out.write(b"".join(map(encode, answers)))
    out.flush()
    return any("error" in found for found in answers)
