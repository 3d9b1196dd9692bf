"""``referee inspect``: answers questions about layouts and scores, a JSON object a line. No server, no game."""

from __future__ import annotations

import typer

from referee.cli.failure import EXIT_FAILED
from referee.cli.lines import Questions, Strict, batches, opened, write
from referee.notation.inspect import answer
from referee.notation.lines import encode


def inspect(file: Questions = None, strict: Strict = False) -> None:
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
    with opened(file) as questions:
        for lines in batches(questions):
            answers = [answer(line) for line in lines]
            write(b"".join(map(encode, answers)))
            errors |= any("error" in found for found in answers)
    if strict and errors:
        raise typer.Exit(EXIT_FAILED)
