"""``referee inspect``: answers questions about boards and scores, a JSON object a line. No server, no game."""

from __future__ import annotations

import typer

from referee.cli.failure import EXIT_FAILED
from referee.cli.lines import Questions, Strict, batches, opened, write
from referee.notation.inspect import answer
from referee.notation.lines import encode


def inspect(file: Questions = None, strict: Strict = False) -> None:
    """Answer questions about boards and scores: a JSON object a line in, one a line out, in the same order.

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

    A kingdom: its dominoes in the order in which they were placed, each [number,ax,ay,bx,by] with the cells of its left
    and its right half; x to the east, y to the south, the castle at 0,0. The frame's size is 5 or 7; "castle" is the
    castle's [column,row] in a fixed frame, counted from 0 in the north-west, or null for a relative frame.

        {"game":"kingdomino","frame":{"size":5,"castle":[0,0]},
        "kingdom":[[48,1,0,1,1]],"domino":44}

        {"valid":true,"violations":[],"score":3,
        "areas":[{"terrain":"wheat","squares":1,"crowns":0},
        {"terrain":"mine","squares":1,"crowns":3}],
        "largest_area":1,"crowns":3,"placements":[[0,1,0,2],[0,2,0,1]]}

    "domino" is optional: one that is to be placed; without it the answer has no placements. A domino with equal halves
    has one name for each placement, the smaller one. The dominoes are those of a game, 1 to 48. A kingdom against the
    rules is answered with valid false and what its first bad placement breaks: "placement" is its place in the array,
    from 0. The score has no bonuses in it.

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
