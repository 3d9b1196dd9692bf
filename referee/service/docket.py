"""How the table of a game stands, as the API tells it: who is out, strikes, disputes, rulings, what is waited for."""

from __future__ import annotations

from collections.abc import Mapping

from referee.log.conduct import Suspension
from referee.log.replay import Record
from referee.log.steps import Phase
from referee.log.v1 import log_pb2
from referee.v1 import arbiter_service_pb2 as pb

_SUSPENSIONS = {
    Suspension.PAUSED: pb.Docket.SUSPENSION_PAUSED,
    Suspension.ADJOURNED: pb.Docket.SUSPENSION_ADJOURNED,
}


def docket_message(record: Record, texts: Mapping[int, str], most_rulings: int | None = None) -> pb.Docket:
    """``texts``: by entry, as far as they are held. ``most_rulings``: the newest; None: all."""
    course = record.course
    conduct = course.conduct
    docket = pb.Docket(game_id=record.game_id.hex(), size=record.size, table_rules=conduct.terms.table_rules)
    if conduct.suspended is not None:
        docket.suspension = _SUSPENSIONS[conduct.suspended]
    for seat in range(len(record.opened.seats)):
        out = log_pb2.Ending.ValueType(conduct.out.get(seat, log_pb2.ENDING_UNSPECIFIED))
        docket.seats.add(out=out, strikes=conduct.strikes[seat], points_off=conduct.points_off[seat])
    for seq, dispute in conduct.disputes.items():
        docket.disputes.add(
            seq=seq,
            seat=dispute.seat,
            against=dispute.against,
            rule_id=dispute.rule_id,
            is_appeal=dispute.appealed is not None,
            ruled=dispute.ruled,
            text=texts.get(seq, ""),
        )
    first = 0 if most_rulings is None else max(0, len(conduct.rulings) - most_rulings)
    for seq, ruling in list(conduct.rulings.items())[first:]:
        docket.rulings.add(seq=seq, arbiter=ruling.arbiter, rule=ruling.rule, text=texts.get(seq, ""))
    if (proposal := conduct.proposal) is not None:
        playing = set(range(len(record.opened.seats))) - set(conduct.out)
        docket.proposal.CopyFrom(
            pb.Docket.Proposal(
                seq=proposal.seq,
                to_seq=proposal.to_seq,
                agreed=sorted(proposal.agreed),
                missing=sorted(playing - proposal.agreed),
            )
        )
    if record.phase not in (Phase.ENDED, Phase.CLOSED) and (end := course.required_end()) is not None:
        docket.waiting.CopyFrom(end)
        docket.until_ms = course.result_ms() or 0
    return docket
