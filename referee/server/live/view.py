"""The public view of a game: messages built field by field, so that no secret gets out.

Nothing secret is in a state, but the live game around it holds r.
"""

from __future__ import annotations

from collections.abc import Iterator

from referee.log.arbitration import Suspension
from referee.log.codec import end_message
from referee.log.events import Author, Role
from referee.log.game import Phase
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.telling.docket import outcome_text
from referee.text.notation.outcomes import players
from referee.v1 import game_pb2 as pb
from referee.v1 import game_service_pb2
from referee.v1.game_service_pb2 import Snapshot

_STATES = {
    Phase.JOINING: pb.GAME_STATE_JOINING,
    Phase.REVEALING: pb.GAME_STATE_REVEALING,
    Phase.PLAYING: pb.GAME_STATE_PLAYING,
    Phase.ENDED: pb.GAME_STATE_OVER,
    Phase.CLOSED: pb.GAME_STATE_OVER,
}
_AWAITED = {
    Phase.JOINING: game_service_pb2.AWAITED_JOIN,
    Phase.REVEALING: game_service_pb2.AWAITED_REVEAL,
    Phase.PLAYING: game_service_pb2.AWAITED_MOVE,
}
_SUSPENDED = {
    Suspension.PAUSED: pb.GAME_STATE_PAUSED,
    Suspension.ADJOURNED: pb.GAME_STATE_ADJOURNED,
}


def game_state(record: Record) -> pb.GameState.ValueType:
    """Return how far the game is."""
    game = record.game
    if record.copied_ms and not record.is_final:
        return pb.GAME_STATE_IN_DOUBT
    if not game.is_over:
        if game.reached() is not None:
            return pb.GAME_STATE_RESULT_OPEN
        if game.arbitration.suspended is not None:
            return _SUSPENDED[game.arbitration.suspended]
    return _STATES[record.phase]


def game_message(record: Record, open_data: bytes = b"") -> pb.Game:
    """Return the game without its position."""
    game = record.game
    message = pb.Game(
        id=record.game_id.hex(),
        rules_id=record.opened.rules_id,
        rules_version=record.opened.rules_version,
        state=game_state(record),
        size=record.size,
        head=record.head,
        awaited_seats=awaited_seats(record),
        result=end_message(game.end) if game.end is not None else None,
        declared=not game.deal.is_dealt,
        open=open_data,
        scribe_awaited=is_scribe_awaited(record),
    )
    for number, seat in enumerate(record.opened.seats):
        keys = record.keyring.keys_of(Author(Role.SEAT, number))
        message.seats.add(
            joined=number in game.joins,
            revealed=number in game.deal.seeds,
            key=keys[0].raw if keys else b"",
            next_key=keys[1].raw if len(keys) > 1 else b"",
            scribed=seat.scribed,
        )
    message.clocks.extend(clock_messages(record))
    for number, ending in game.arbitration.out.items():
        message.forfeited.add(seat=number, ending=log_pb2.Ending.ValueType(ending.value))
    message.open_disputes.extend(open_disputes(record))
    message.opened_ms = record.opened_ms
    if game.is_over:
        message.ended_ms = record.last_ms
    message.outcome = outcome_text(record)
    for name in ("event_id", "round", "table"):
        if record.opened.HasField(name):
            setattr(message, name, getattr(record.opened, name))
    return message


def open_disputes(record: Record) -> list[int]:
    """Return the entries of protests and appeals that an arbiter has still to rule on."""
    return [seq for seq, dispute in record.game.arbitration.disputes.items() if dispute.ruled is None]


def clock_messages(record: Record) -> Iterator[pb.SeatClock]:
    """Yield the clock of every seat; nothing in a game without clocks."""
    clocks = record.game.clocks
    for left_ms, since_ms, free_ms in clocks.shown(record.stood_ms) if clocks is not None else ():
        yield pb.SeatClock(left_ms=left_ms, running=since_ms is not None, since_ms=since_ms or 0, free_ms=free_ms)


def awaited_seats(record: Record) -> list[int]:
    """Return the seats that have to join, reveal or move, even if others enter it for them."""
    game = record.game
    if record.copied_ms:
        return []
    if record.phase is Phase.PLAYING:
        return list(game.awaited())
    return list(game.missing())


def is_scribe_awaited(record: Record) -> bool:
    """Return whether a scribe has to declare what was drawn."""
    game = record.game
    if game.deal.is_dealt or not game.goes_on or record.copied_ms:
        return False
    return game.awaits_chance()


def awaited(record: Record, author: Author) -> tuple[game_service_pb2.Awaited.ValueType, int] | None:
    """Return what is awaited from the author, and of which seat (0 for a draw); None: nothing.

    Any scribe stands for all.
    """
    seats = awaited_seats(record)
    if author.role is Role.SEAT:
        seats = [seat for seat in seats if seat == author.index]
    else:
        seats = [seat for seat in seats if author.role is Role.SCRIBE and record.opened.seats[seat].scribed]
    if seats:
        return _AWAITED[record.phase], seats[0]
    if author.role is Role.SCRIBE and is_scribe_awaited(record):
        return game_service_pb2.AWAITED_DECLARE, 0
    return None


def awaited_text(record: Record) -> str:
    """Return what is awaited, in words."""
    if record.phase in (Phase.ENDED, Phase.CLOSED):
        return "nothing"
    if record.copied_ms:
        return "the organiser, who decides how to continue"
    arbitration = record.game.arbitration
    if record.game.reached() is not None:
        open_ones = [str(seq) for seq in open_disputes(record)]
        return f"a ruling on entry {' and '.join(open_ones)}" if open_ones else "nothing but a protest"
    if arbitration.suspended is not None:
        return f"an arbiter, as the game is {arbitration.suspended.value}"
    act = {Phase.JOINING: "join", Phase.REVEALING: "reveal", Phase.PLAYING: "move"}[record.phase]
    words = [f"{act} by {players([seat])}" for seat in awaited_seats(record)]
    if is_scribe_awaited(record):
        words.append(f"declare by scribe {record.opened.declared.scribe}")
    return ", ".join(words)


_MEMBER_OF = {
    field.message_type.full_name: field.name
    for field in pb.Position.DESCRIPTOR.oneofs_by_name["game"].fields
    if field.message_type is not None
}


def snapshot_message(record: Record) -> Snapshot:
    """Return the game, what it was opened with, and its position."""
    return Snapshot(game=game_message(record, record.open_data), position=position_message(record))


def position_message(record: Record) -> pb.Position:
    """Return the position in the game's own terms."""
    game = record.game
    own = game.position.codec.position(game.position.state)
    position = pb.Position()
    getattr(position, _MEMBER_OF[own.DESCRIPTOR.full_name]).CopyFrom(own)
    return position
