"""``referee consent``: a seat agrees to a take-back."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli.seat_acts import SeatWords, command
from referee.log.v1 import log_pb2


def _consent(
    entry: Annotated[int, typer.Option(metavar="ENTRY", min=0, help="The proposal.", show_default=False)],
) -> log_pb2.Consent:
    """A seat agrees to take moves back, as another seat proposes.

    Exit codes: 0 entered; 1 it is not allowed now, the referee cannot be reached or refuses, or it was not confirmed; 2
    wrong usage.

    Example: `referee consent @join.txt --key seat.pem --entry 42`
    """
    return log_pb2.Consent(to_seq=entry)


consent = command(SeatWords, _consent, anywhere=False)
