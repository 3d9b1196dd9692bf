"""How the table of a game stands, in words: the one wording of the commands and of the arbiter's console."""

from __future__ import annotations

from referee.games.game import Ending
from referee.log.events import UNNAMED, KeyChanged
from referee.log.intent import Author, Role
from referee.log.reading import read_end, read_rule
from referee.telling.words import act_words, quoted, result_words, ruling_words
from referee.text.notation.outcomes import counted
from referee.text.notation.times import moment_utc
from referee.v1 import arbiter_service_pb2 as pb
from referee.wire.enums import word
from referee_clients.words import call_words


def told(found: pb.Docket) -> list[str]:
    """Return a line for everything."""
    lines = [f"game {found.game_id}, {counted(found.size, 'entry', 'entries')}"]
    if found.HasField("result"):
        lines.append(f"the game is over: {found.outcome}")
        lines.append(f"  {result_words(read_end(found.result))}")
    if not found.table_rules:
        return [*lines, "this game has no rules of the table, and so no protests and no rulings"]
    over = found.HasField("result")
    if found.suspension and not over:
        lines.append(f"the game is {word(pb.Docket.Suspension, found.suspension)}")
    lines += [f"{call_words(call)} (call {call.number}, since {moment_utc(call.since_ms)})" for call in found.calls]
    lines += [f"seat {seat}: {words}" for seat, of in enumerate(found.seats) if (words := _seat(of))]
    entered = {
        **{of.seq: _dispute(of, is_over=over) for of in found.disputes},
        **{of.seq: _ruling(of) for of in found.rulings},
        **{of.seq: _key_change(of) for of in found.key_changes},
        **{of.seq: _delay(of) for of in found.delays},
    }
    lines += [entered[seq] for seq in sorted(entered)]
    if found.HasField("proposal") and not over:
        missing = ", ".join(f"seat {seat}" for seat in found.proposal.missing)
        what = f"entry {found.proposal.seq} proposes to take back everything after entry {found.proposal.to_seq}"
        lines.append(f"{what}; {missing} yet to agree")
    if found.HasField("waiting"):
        when = f"entered at {moment_utc(found.until_ms)}, if nobody acts before" if found.until_ms else _held(found)
        lines.append(f"the game has come to its end: {found.outcome}")
        lines.append(f"  {when}")
        lines.append(f"  {result_words(read_end(found.waiting))}")
    return lines if len(lines) > 1 else [*lines, "no forfeits, no disputes, no rulings"]


def _seat(of: pb.Docket.Seat) -> str:
    parts = [
        *([f"out ({Ending(of.out).words})"] if of.out else []),
        *([counted(of.strikes, "strike")] if of.strikes else []),
        *([f"{counted(of.points_off, 'point')} off"] if of.points_off else []),
    ]
    return ", ".join(parts)


def _dispute(dispute: pb.Docket.Dispute, *, is_over: bool) -> str:
    kind, against = ("appeal", "the ruling of entry") if dispute.is_appeal else ("protest", "entry")
    ruler = "another arbiter" if dispute.is_appeal else "an arbiter"
    state = f"open: {ruler} has to rule on it"
    if dispute.HasField("ruled"):
        state = f"ruled on in entry {dispute.ruled}"
    elif is_over:
        state = "the game ended before anybody ruled on it"
    what = f"entry {dispute.seq}: {kind} of seat {dispute.seat} against {against} {dispute.against} ({dispute.rule_id})"
    return f"{what}{_words(dispute.text)}; {state}"


def _ruling(ruling: pb.Docket.Ruling) -> str:
    # Which move an arbiter lets stand is not put in words here: that takes the position.
    ruled = read_rule(ruling.rule, Author(Role.ARBITER, ruling.arbiter), lambda data: data)
    return f"entry {ruling.seq}: {ruled.author} rules: {ruling_words(ruled)}{_words(ruling.text)}"


def _key_change(change: pb.Docket.KeyChange) -> str:
    is_ruled = change.HasField("arbiter")
    act = KeyChanged(
        Author(Role.ARBITER, change.arbiter) if is_ruled else Author(Role.SEAT, change.seat),
        change.seat if is_ruled else UNNAMED,
        change.key,
    )
    counts = f"it counts from entry {change.used} on" if change.HasField("used") else "it has not signed yet"
    return f"entry {change.seq}: {act.author} {act_words(act)}; {counts}"


def _delay(delay: pb.Docket.Delay) -> str:
    took = f"the referee took {delay.ms / 1000:.1f} s itself"
    return f"entry {delay.seq}: {took}, and the clock of seat {delay.seat} did not run"


def _words(text: str) -> str:
    return f": {quoted(text)}" if text else ""


def _held(found: pb.Docket) -> str:
    waiting = [str(dispute.seq) for dispute in found.disputes if not dispute.HasField("ruled")]
    return f"waits for a ruling on entry {' and '.join(waiting)}" if waiting else "entered at once"
