"""What happened in words, for everything that shows a game."""

from __future__ import annotations

from typing import Any, assert_never

from referee.console import printable
from referee.games.results import Result
from referee.log.events import (
    UNNAMED,
    Accept,
    Adjourn,
    Adjudicate,
    Appealed,
    Consented,
    Corrected,
    Dealt,
    Declared,
    Disclosed,
    Dismiss,
    Ended,
    Forfeit,
    Interrupted,
    Joined,
    KeyChanged,
    Moved,
    Opened,
    Passed,
    Pause,
    Penalty,
    Protested,
    Recovered,
    Refused,
    Reinstate,
    Resigned,
    Restore,
    Resume,
    Revealed,
    Ruled,
    Ruling,
    SeatAct,
    SetClock,
    Skip,
    StoodIn,
    TakeBackProposed,
    TimedOut,
    Void,
    WasAbsent,
)
from referee.log.intent import Author, Role
from referee.log.judge import Happened
from referee.notation.outcomes import counted, standings
from referee.notation.registry import Notation
from referee.notation.times import in_words, moment_utc


def act_words(act: SeatAct | Corrected | KeyChanged) -> str:
    """Return what somebody does beside moves and rulings: ``agrees to the take-back that entry 12 proposes``."""
    match act:
        case Protested(_, against, rule_id, seat):
            return _for(seat, f"protests against entry {against} ({rule_id})")
        case Appealed(_, against, rule_id, seat):
            return _for(seat, f"appeals against the ruling of entry {against} ({rule_id})")
        case Consented(_, to_seq, seat):
            return _for(seat, f"agrees to the take-back that entry {to_seq} proposes")
        case TakeBackProposed(_, to_seq, seat):
            return _for(seat, f"proposes to take back everything after entry {to_seq}")
        case Corrected(_, to_seq):
            return f"corrects and takes back everything after entry {to_seq}"
        case Resigned(_, seat):
            return _for(seat, "resigns")
        case KeyChanged(_, seat, key):
            of = "its key" if seat == UNNAMED else f"the key of seat {seat}"
            return f"changes {of} to {key.hex()[:16]}…"
        case _:
            assert_never(act)


def _for(seat: int, words: str) -> str:
    return words if seat == UNNAMED else f"{words} for seat {seat}"


def ruling_words(ruled: Ruled, move: str = "") -> str:
    """Return what an arbiter rules, without the reason. ``move``: of ``Accept``, in notation."""
    of = f" ({ruled.rule_id})" if ruled.rule_id else ""
    on = f", on entry {ruled.decides}" if ruled.decides is not None else ""
    return f"{_ruling(ruled.ruling, move)}{of}{on}"


def _ruling(ruling: Ruling, move: str) -> str:
    match ruling:
        case Restore(to_seq):
            return f"the game goes back to entry {to_seq}"
        case Adjudicate(result):
            return f"the game is over: {result_words(result)}"
        case SetClock(seat, left_ms):
            return f"seat {seat} has {in_words(left_ms)} left"
        case Penalty(seat):
            return f"seat {seat}: {_penalty(ruling)}"
        case Forfeit(seat, ending):
            return f"seat {seat} forfeits ({'nothing' if ending is None else ending.words})"
        case Reinstate(seat):
            return f"seat {seat} plays again"
        case Skip(seat):
            return f"seat {seat} is passed over"
        case Accept(seat, _, rule_ids):
            return f"seat {seat}: {move or 'a move'} stands against {', '.join(rule_ids)}"
        case Void():
            return "the game does not count"
        case Pause():
            return "the game is paused"
        case Resume():
            return "the game goes on"
        case Adjourn():
            return "the game is adjourned"
        case Dismiss():
            return "dismissed"
        case _:
            assert_never(ruling)


def _penalty(ruling: Penalty) -> str:
    parts = [
        *([f"{in_words(ruling.time_ms)} off the clock"] if ruling.time_ms else []),
        *([counted(ruling.points, "point") + " off the score"] if ruling.points else []),
        *([counted(ruling.strikes, "strike")] if ruling.strikes else []),
    ]
    return ", ".join(parts) or "a warning"


def entry_words(happened: Happened, notation: Notation) -> str:
    """Return what an entry says, in a line; of an attempt the move, not that it was refused."""

    def move(event: Any) -> str:
        return notation.describe(event, happened.before)

    event, seat = happened.event, happened.seat
    match event:
        case Moved(author, made) | Refused(author, made):
            by = "" if author == Author(Role.SEAT, UNNAMED if seat is None else seat) else f" (by {author})"
            return f"seat {seat}: {move(made)}{by}"
        case Dealt(outcome):
            return f"chance: {move(outcome)}"
        case Declared(author, outcome):
            return f"chance: {move(outcome)} (by {author})"
        case Passed(passing):
            return f"seat {passing}: has no legal action and passes"
        case StoodIn(absent, made):
            return f"seat {absent}, by the stand-in: {move(made)}"
        case Joined(author):
            return f"{author}: joins"
        case Revealed(author):
            return f"{author}: opens its seed"
        case Resigned() | TakeBackProposed() | Consented() | Protested() | Appealed():
            return f"{event.author}: {act_words(event)}"
        case Corrected() | KeyChanged():
            return f"{event.author}: {act_words(event)}"
        case Ruled(author, ruling):
            accepted = move(ruling.move) if isinstance(ruling, Accept) else ""
            return f"{author} rules: {ruling_words(event, accepted)}"
        case TimedOut(late):
            return f"seat {late}: its time has run out"
        case WasAbsent(absent, since_ms):
            away = max(0, happened.clock.referee_ms - since_ms)
            if not happened.in_play:
                return f"seat {absent}: did not come for {in_words(away)}"
            return f"seat {absent}: was on turn, but disconnected for {in_words(away)}"
        case Interrupted(alive_ms):
            return f"the referee was down from {moment_utc(alive_ms)}, and all clocks stood still"
        case Recovered(lost_size):
            lost = counted(lost_size - happened.seq, "entry", "entries")
            return f"the referee lost {lost} that it had signed, and goes on"
        case Ended(result):
            return told_end(result)
        case Opened():
            return "the game is opened"
        case Disclosed():
            return "the referee's seed is disclosed"
        case _:
            assert_never(event)


def result_words(result: Result) -> str:
    """Return points and places, as far as there are some."""
    return standings(result.scores, result.places)


def told_end(end: Result) -> str:
    """Return how the game ended: ``end (resigned): seat 0 place 1, seat 1 place 2``."""
    return f"end ({end.ending.words}): {result_words(end)}"


def quoted(text: str) -> str:
    """Return a text of somebody's on one line, without anything that could steer a terminal."""
    return f'"{printable(" ".join(text.split()))}"'
