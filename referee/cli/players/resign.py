"""``referee resign``: a seat leaves the game."""

from __future__ import annotations

from referee.cli.players.seat_acts import EnteredWords, command
from referee.log.v1 import log_pb2


def _resign() -> log_pb2.Resign:
    """Leave a game, as a seat: the seat forfeits, and the stand-in makes its moves while the others play on.

    Exit codes: 0 entered; 1 not allowed now, the referee cannot be reached or refuses, or you did not confirm; 2 wrong
    usage.

    Example: `referee resign @join.txt --key seat.pem`
    """
    return log_pb2.Resign()


resign = command(EnteredWords, _resign, anywhere=True)
