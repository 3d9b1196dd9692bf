"""``referee appeal``: a seat asks another arbiter."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli.players.seat_acts import RuleId, SpokenWords, command
from referee.log.v1 import log_pb2


def _appeal(
    entry: Annotated[int, typer.Option(metavar="ENTRY", min=0, help="The entry of the ruling.", show_default=False)],
    rule: RuleId,
) -> log_pb2.Appeal:
    """Dispute a ruling, as a seat: another arbiter of the game must rule on it before the game can end.

    Exit codes: 0 entered; 1 not allowed now, the referee cannot be reached or refuses, or you did not confirm; 2 wrong
    usage.

    Example: `referee appeal @join.txt --key seat.pem --entry 45 --rule TBL-7`
    """
    return log_pb2.Appeal(against_seq=entry, rule_id=rule)


appeal = command(SpokenWords, _appeal, anywhere=True)
