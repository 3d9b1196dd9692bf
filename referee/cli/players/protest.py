"""``referee protest``: a seat disputes an entry."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli.players.seat_acts import RuleId, SpokenWords, command
from referee.log.v1 import log_pb2


def _protest(
    entry: Annotated[int, typer.Option(metavar="ENTRY", min=0, help="The entry that you dispute.", show_default=False)],
    rule: RuleId,
) -> log_pb2.Protest:
    """Dispute an entry, as a seat: an arbiter must rule on it before the game can end.

    Exit codes: 0 entered; 1 not allowed now, the referee cannot be reached or refuses, or you did not confirm; 2 wrong
    usage.

    Example: `referee protest @join.txt --key seat.pem --entry 41 --rule ALH-A2 --reason "that side has a wall"`
    """
    return log_pb2.Protest(against_seq=entry, rule_id=rule)


protest = command(SpokenWords, _protest, anywhere=True)
