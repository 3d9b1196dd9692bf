"""The state of a game's table, as the API has it: forfeits, disputes, rulings, and what the game waits for."""

from __future__ import annotations

from collections.abc import Mapping

from referee.games.game import Ending
from referee.log.arbitration import Suspension
from referee.log.codec import end_message
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.text.notation.outcomes import outcome
from referee.v1 import arbiter_service_pb2 as pb

_SUSPENSIONS = {
    Suspension.PAUSED: pb.Docket.SUSPENSION_PAUSED,
    Suspension.ADJOURNED: pb.Docket.SUSPENSION_ADJOURNED,
}


def docket_message(record: Record, texts: Mapping[int, str], most_rulings: int | None = None) -> pb.Docket:
    """``texts``: by entry, as far as they are held. ``most_rulings``: the newest; None: all."""
    game = record.game
    arbitration = game.arbitration
    docket = pb.Docket(game_id=record.game_id.hex(), size=record.size, table_rules=arbitration.terms.table_rules)
    if arbitration.suspended is not None and game.reached() is None:
        docket.suspension = _SUSPENSIONS[arbitration.suspended]
    for seat in range(len(record.opened.seats)):
        ending = arbitration.out.get(seat)
        out = log_pb2.Ending.ValueType(ending.value if ending is not None else log_pb2.ENDING_UNSPECIFIED)
        docket.seats.add(out=out, strikes=arbitration.strikes[seat], points_off=arbitration.points_off[seat])
    for seq, dispute in arbitration.disputes.items():
        docket.disputes.add(
            seq=seq,
            seat=dispute.seat,
            against=dispute.against,
            rule_id=dispute.rule_id,
            is_appeal=dispute.appealed is not None,
            ruled=dispute.ruled,
            text=texts.get(seq, ""),
        )
    first = 0 if most_rulings is None else max(0, len(arbitration.rulings) - most_rulings)
    for seq, ruling in list(arbitration.rulings.items())[first:]:
        by, text = ruling.ruled.author.index, texts.get(seq, "")
        docket.rulings.add(seq=seq, arbiter=by, rule=ruling.ruled.message, text=text)
    for change in record.keyring.changes:
        used = next((seq for seq, key in record.keyring.used[change.seat] if key == change.key), None)
        docket.key_changes.add(seq=change.seq, seat=change.seat, key=change.key.raw, arbiter=change.arbiter, used=used)
    for delay in game.delays:
        docket.delays.add(seq=delay.seq, seat=delay.seat, ms=delay.ms)
    if (proposal := arbitration.proposal) is not None:
        docket.proposal.CopyFrom(
            pb.Docket.Proposal(
                seq=proposal.seq,
                to_seq=proposal.to_seq,
                agreed=sorted(proposal.agreed),
                missing=asked_to_consent(record),
            )
        )
    if not game.is_over and (reached := game.reached()) is not None:
        docket.waiting.CopyFrom(end_message(reached))
        docket.until_ms = game.result_ms() or 0
    if game.end is not None:
        docket.result.CopyFrom(end_message(game.end))
    docket.outcome = outcome_text(record)
    return docket


def outcome_text(record: Record) -> str:
    """Return who won and why, even before that is entered; empty while the game continues.

    For an event, which has no winner, return that it is over.
    """
    game = record.game
    result = game.result()
    if result is None:
        return ""
    if result.ending is Ending.RULES and (course := game.position.state.course()):
        return f"the event is {course['state']}"
    return outcome(result, game.contest(), waits=game.result_waits)


def asked_to_consent(record: Record) -> list[int]:
    """Return the seats that have yet to agree to the take-back that is proposed; none without one."""
    arbitration = record.game.arbitration
    if (proposal := arbitration.proposal) is None:
        return []
    playing = set(range(len(record.opened.seats))) - set(arbitration.out)
    return sorted(playing - proposal.agreed)
