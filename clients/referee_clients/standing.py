"""How a game stands by its status, in words: the one wording of ``referee status`` and of the arbiter's console."""

from __future__ import annotations

from rich.text import Text

from referee.console import printable
from referee.text.notation.outcomes import named, seats
from referee.text.notation.times import in_words, moment_utc
from referee.v1 import game_pb2
from referee.v1 import status_service_pb2 as pb


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
            text.append("paused: an arbiter has to let it go on")
        case game_pb2.GAME_STATE_ADJOURNED:
            text.append("adjourned: an arbiter has to let it go on")
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
        text.append(f"; a take-back is proposed: {seats(game.asked_to_consent)} yet to agree")
    return text


def _awaited(game: pb.GameStatus, now_ms: int) -> Text:
    """Return whose act is awaited, with the time that is left."""
    text = Text()
    for number, seat in enumerate(game.seats):
        if seat.awaited:
            name = f"seat {number} {printable(seat.principal)}".rstrip() + (" (by a scribe)" if seat.scribed else "")
            name += f" ({time_left(game.clocks[number], now_ms)})" if number < len(game.clocks) else ""
            here = game.scribe_connected if seat.scribed else seat.connected
            text.append(", " if text else "").append(name, "" if here else "red")
    if game.scribe_awaited:
        what = "a scribe, to declare what was drawn"
        text.append(", " if text else "").append(what, "" if game.scribe_connected else "red")
    return text or Text("the referee")
