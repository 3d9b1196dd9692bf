"""The one wording of how a game stands: its status, its docket, open calls for an arbiter, and times that passed."""

from __future__ import annotations

from rich.text import Text

from referee.console import printable
from referee.games.game import Ending
from referee.log.codec import read_end, read_rule
from referee.log.events import UNNAMED, Author, KeyChanged, Role
from referee.telling.words import act_words, quoted, result_words, ruling_words
from referee.text.notation.outcomes import counted, named, players
from referee.text.notation.times import in_words, moment_utc
from referee.v1 import arbiter_service_pb2 as arbiter_pb
from referee.v1 import game_pb2
from referee.v1 import status_service_pb2 as pb
from referee.wire.enums import word

# --- the status, in `referee status` and in the arbiter's console ---------------------------------------------------


def time_left(clock: game_pb2.SeatClock, now_ms: int) -> str:
    """Return what a clock shows now, in whole seconds."""
    passed = max(0, now_ms - clock.since_ms - clock.free_ms) if clock.running else 0
    return in_words(max(0, clock.left_ms - passed) // 1000 * 1000)


def how_it_stands(game: pb.GameStatus, now_ms: int) -> Text:
    """Return what the game waits for, in a sentence; in red who is awaited and not connected.

    ``now_ms``: by the referee's clock.
    """
    numbers = [str(seq) for seq in game.open_disputes]
    entries = f"{'entry' if len(numbers) == 1 else 'entries'} {named(numbers)}" if numbers else ""
    text = Text()
    match game.state:
        case game_pb2.GAME_STATE_JOINING:
            text.append("waits for players to join: ").append(_awaited(game, now_ms))
        case game_pb2.GAME_STATE_REVEALING:
            text.append("waits for seeds of the deal: ").append(_awaited(game, now_ms))
        case game_pb2.GAME_STATE_PLAYING:
            text.append("in play: ").append(_awaited(game, now_ms))
            if any(seat.awaited and not clock.running for seat, clock in zip(game.seats, game.clocks, strict=False)):
                text.append("; the referee was away, so clocks wait until those on turn are back", "yellow")
        case game_pb2.GAME_STATE_IN_DOUBT:
            text.append("in doubt: the organiser has to decide, see referee recover", "yellow")
        case game_pb2.GAME_STATE_PAUSED:
            text.append("paused: an arbiter has to resume it")
        case game_pb2.GAME_STATE_ADJOURNED:
            text.append("adjourned: an arbiter has to resume it")
        case game_pb2.GAME_STATE_RESULT_OPEN:
            when = f", until {moment_utc(game.until_ms)}" if game.until_ms else ""
            text.append(
                "played out: " + (f"waits for an arbiter to rule on {entries}" if entries else f"time to protest{when}")
            )
            entries = ""
        case _:
            text.append("cannot be looked at just now")
    if entries:
        text.append(f"; protest open: an arbiter has to rule on {entries}", "yellow")
    if game.asked_to_consent:
        text.append(f"; a take-back is proposed: {players(game.asked_to_consent)} yet to agree")
    return text


def _awaited(game: pb.GameStatus, now_ms: int) -> Text:
    """Return whose act is awaited, with the time that is left."""
    text = Text()
    for number, seat in enumerate(game.seats):
        if seat.awaited:
            name = f"{players([number])} {printable(seat.principal)}".rstrip() + (
                " (by a scribe)" if seat.scribed else ""
            )
            name += f" ({time_left(game.clocks[number], now_ms)})" if number < len(game.clocks) else ""
            here = game.scribe_connected if seat.scribed else seat.connected
            text.append(", " if text else "").append(name, "" if here else "red")
    if game.scribe_awaited:
        what = "a scribe, to declare what was drawn"
        text.append(", " if text else "").append(what, "" if game.scribe_connected else "red")
    return text or Text("the referee")


# --- the docket, in `referee docket` and in the arbiter's console ---------------------------------------------------


def docket_lines(found: arbiter_pb.Docket) -> list[str]:
    """Return a line for everything."""
    lines = [f"game {found.game_id}, {counted(found.size, 'entry', 'entries')}"]
    if found.HasField("result"):
        lines.append(f"the game is over: {found.outcome}")
        lines.append(f"  {result_words(read_end(found.result))}")
    if not found.table_rules:
        return [*lines, "this game has no rules of the table, and so no protests and no rulings"]
    over = found.HasField("result")
    if found.suspension and not over:
        lines.append(f"the game is {word(arbiter_pb.Docket.Suspension, found.suspension)}")
    lines += [f"{call_words(call)} (call {call.number}, since {moment_utc(call.since_ms)})" for call in found.calls]
    lines += [f"{players([seat])}: {words}" for seat, of in enumerate(found.seats) if (words := _seat(of))]
    entered = {
        **{of.seq: _dispute(of, is_over=over) for of in found.disputes},
        **{of.seq: _ruling(of) for of in found.rulings},
        **{of.seq: _key_change(of) for of in found.key_changes},
        **{of.seq: _delay(of) for of in found.delays},
    }
    lines += [entered[seq] for seq in sorted(entered)]
    if found.HasField("proposal") and not over:
        missing = players(found.proposal.missing)
        what = f"entry {found.proposal.seq} proposes to take back everything after entry {found.proposal.to_seq}"
        lines.append(f"{what}; {missing} yet to agree")
    if found.HasField("waiting"):
        when = (
            f"entered at {moment_utc(found.until_ms)}, unless a player or arbiter acts before"
            if found.until_ms
            else _held(found)
        )
        lines.append(f"the game has come to its end: {found.outcome}")
        lines.append(f"  {when}")
        lines.append(f"  {result_words(read_end(found.waiting))}")
    return lines if len(lines) > 1 else [*lines, "no forfeits, no disputes, no rulings"]


def _seat(of: arbiter_pb.Docket.Seat) -> str:
    parts = [
        *([f"out ({Ending(of.out).words})"] if of.out else []),
        *([counted(of.strikes, "strike")] if of.strikes else []),
        *([f"{counted(of.points_off, 'point')} off"] if of.points_off else []),
    ]
    return ", ".join(parts)


def _dispute(dispute: arbiter_pb.Docket.Dispute, *, is_over: bool) -> str:
    kind, against = ("appeal", "the ruling of entry") if dispute.is_appeal else ("protest", "entry")
    ruler = "another arbiter" if dispute.is_appeal else "an arbiter"
    state = f"open: {ruler} has to rule on it"
    if dispute.HasField("ruled"):
        state = f"ruled on in entry {dispute.ruled}"
    elif is_over:
        state = "the game ended before an arbiter ruled on it"
    who = players([dispute.seat])
    what = f"entry {dispute.seq}: {kind} of {who} against {against} {dispute.against} ({dispute.rule_id})"
    return f"{what}{_words(dispute.text)}; {state}"


def _ruling(ruling: arbiter_pb.Docket.Ruling) -> str:
    # Which move an arbiter lets stand is not put in words here: that takes the position.
    ruled = read_rule(ruling.rule, Author(Role.ARBITER, ruling.arbiter), lambda data: data)
    return f"entry {ruling.seq}: {ruled.author} rules: {ruling_words(ruled)}{_words(ruling.text)}"


def _key_change(change: arbiter_pb.Docket.KeyChange) -> str:
    is_ruled = change.HasField("arbiter")
    act = KeyChanged(
        Author(Role.ARBITER, change.arbiter) if is_ruled else Author(Role.SEAT, change.seat),
        change.seat if is_ruled else UNNAMED,
        change.key,
    )
    counts = f"it counts from entry {change.used} on" if change.HasField("used") else "it has not signed yet"
    return f"entry {change.seq}: {act.author.phrase} {act_words(act)}; {counts}"


def _delay(delay: arbiter_pb.Docket.Delay) -> str:
    took = f"the referee took {delay.ms / 1000:.1f} s itself"
    return f"entry {delay.seq}: {took}, and the clock of {players([delay.seat])} did not run"


def _words(text: str) -> str:
    return f": {quoted(text)}" if text else ""


def _held(found: arbiter_pb.Docket) -> str:
    waiting = [str(dispute.seq) for dispute in found.disputes if not dispute.HasField("ruled")]
    return f"waits for a ruling on entry {' and '.join(waiting)}" if waiting else "entered at once"


# --- open calls, and times that passed ------------------------------------------------------------------------------


def caller_words(call: arbiter_pb.Call) -> str:
    """Return who calls, such as ``player 1``."""
    match call.caller:
        case arbiter_pb.Call.CALLER_SEAT:
            return players([call.seat])
        case arbiter_pb.Call.CALLER_SCRIBE:
            return "a scribe"
        case _:
            return "the organiser"


def call_words(call: arbiter_pb.Call) -> str:
    """Return an open call on a line, without when it came."""
    return f"{caller_words(call)} calls for an arbiter: {quoted(call.text)}"


def age(ms: float) -> str:
    """Return ``12 s``, ``3:07``, ``1:03:07`` or ``2 d 01:03``."""
    seconds = max(0, int(ms // 1000))
    if seconds < 60:
        return f"{seconds} s"
    minutes, hours, days = seconds // 60 % 60, seconds // 3600 % 24, seconds // 86400
    if days:
        return f"{days} d {hours:02}:{minutes:02}"
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"
