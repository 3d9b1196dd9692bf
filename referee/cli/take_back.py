"""``referee take-back``: a seat proposes to take moves back."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli.seat_acts import SeatWords, command
from referee.log.v1 import log_pb2


def _take_back(
    to: Annotated[
        int, typer.Option("--to", metavar="ENTRY", min=0, help="The last entry to count.", show_default=False)
    ],
) -> log_pb2.TakeBack:
    """A seat proposes to take back what followed an entry. It happens when every other seat consents.

    Only where the terms of the game allow it, and never past what was drawn or rolled.

    Exit codes: 0 entered; 1 it is not allowed now, the referee cannot be reached or refuses, or it was not confirmed; 2
    wrong usage.

    Example: `referee take-back @join.txt --key seat.pem --to 40`
    """
    return log_pb2.TakeBack(to_seq=to)


take_back = command(SeatWords, _take_back, anywhere=False)
