"""How a game stands, in words over the boards: what is awaited, what waits for an arbiter, the clocks, the result."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.results import Result
from referee.log.game import Phase
from referee.log.replay import Record
from referee.text.notation.outcomes import named, needs_words, outcome
from referee.text.render.words import seat_words
from referee.v1 import game_pb2
from referee_clients.status import time_left
from referee_clients.terminal.desk.reading import Desk, seat_name


def awaited(record: Record, desk: Desk, names: Sequence[str]) -> str:
    """Return what the game waits for, or how it ended."""
    game = record.game
    if (result := game.result()) is not None:
        return f"{_ended(record, result, names)}."
    if (suspended := game.arbitration.suspended) is not None:
        return " ".join((f"An arbiter has ruled that the game is {suspended.value}.", *_open(record)))
    if missing := game.missing():
        what = "join" if game.phase is Phase.JOINING else "reveal their shares of the deck"
        return f"The game waits for {named([seat_words(seat, names) for seat in missing])} to {what}."
    out = [f"{seat_name(seat, names)} is out ({how.words})." for seat, how in game.arbitration.out.items()]
    return " ".join((desk.awaited(names) + ".", *out, *_open(record)))


def _open(record: Record) -> list[str]:
    """Return what waits for an arbiter, or for the other players."""
    table = record.game.arbitration
    disputes = [
        f"Entry {seq}, {'a protest' if dispute.appealed is None else 'an appeal'}, waits for an arbiter."
        for seq, dispute in table.disputes.items()
        if dispute.ruled is None
    ]
    proposal = table.proposal
    agree = [] if proposal is None else [f"Entry {proposal.seq}, a take-back, waits until all have agreed."]
    return [*disputes, *agree]


def _ended(record: Record, result: Result, names: Sequence[str]) -> str:
    over, contest = record.game.is_over, record.game.contest()
    parts = ["The game is over" if over else "The game has come to its end"]
    if not over or needs_words(result, contest):
        parts.append(outcome(result, contest, waits=record.game.result_waits))
    if result.places:
        order = sorted(range(len(result.places)), key=lambda seat: (result.places[seat], seat))
        points = [f", {score} points" for score in result.scores] or [""] * len(order)
        ranks = (f"{result.places[seat]}. {seat_name(seat, names)}{points[seat]}" for seat in order)
        parts.append("; ".join(ranks))
    return ": ".join((parts[0], "; ".join(parts[1:])))


def clocks(record: Record, names: Sequence[str], now_ms: int) -> str:
    """Return the clocks, those that run marked; empty in a game without, and after its end.

    ``now_ms``: by the referee's clock.
    """
    found = record.game.clocks
    if found is None or record.game.result() is not None:
        return ""
    told = []
    for seat, (left_ms, since_ms, free_ms) in enumerate(found.shown()):
        shown = game_pb2.SeatClock(
            left_ms=left_ms, running=since_ms is not None, since_ms=since_ms or 0, free_ms=free_ms
        )
        runs = " (running)" if since_ms is not None else ""
        told.append(f"{seat_name(seat, names)}: {time_left(shown, now_ms)}{runs}")
    return f"Time left: {'; '.join(told)}"
