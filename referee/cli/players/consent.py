"""``referee consent``: a seat agrees to a take-back."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli.players.seat_acts import EnteredWords, command
from referee.log.v1 import log_pb2


def _consent(
    entry: Annotated[int, typer.Option(metavar="ENTRY", min=0, help="The entry of the proposal.", show_default=False)],
) -> log_pb2.Consent:
    """Agree, as a seat, to a take-back that another seat proposed.

    Exit codes: 0 entered; 1 not allowed now, the referee cannot be reached or refuses, or you did not confirm; 2 wrong
    usage.

    Example: `referee consent @join.txt --key seat.pem --entry 42`
    """
    return log_pb2.Consent(to_seq=entry)


consent = command(EnteredWords, _consent, anywhere=False)
