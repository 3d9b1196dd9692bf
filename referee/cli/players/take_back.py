"""``referee take-back``: a seat proposes to take moves back."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli.players.seat_acts import EnteredWords, command
from referee.log.v1 import log_pb2


def _take_back(
    to: Annotated[
        int, typer.Option("--to", metavar="ENTRY", min=0, help="The last entry that still counts.", show_default=False)
    ],
) -> log_pb2.TakeBack:
    """Propose, as a seat, to take back everything after an entry. It happens once every other seat consents.

    The terms of the game must allow it, and it never goes back past a draw or a roll.

    Exit codes: 0 entered; 1 not allowed now, the referee cannot be reached or refuses, or you did not confirm; 2 wrong
    usage.

    Example: `referee take-back @join.txt --key seat.pem --to 40`
    """
    return log_pb2.TakeBack(to_seq=to)


take_back = command(EnteredWords, _take_back, anywhere=False)
