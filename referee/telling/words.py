"""Events and acts in words, for everything that shows a game."""

from __future__ import annotations

from typing import Any, assert_never

from referee.console import printable
from referee.games.game import Ending
from referee.games.results import Result
from referee.log import events
from referee.log.judge import Happened
from referee.text.notation.outcomes import IN_ENGLISH, standings
from referee.text.notation.registry import Notation
from referee.text.notation.times import in_words, moment_utc
from referee.text.words.catalogue import Words, player


def act_words(act: events.SeatAct | events.Corrected | events.KeyChanged, say: Words = IN_ENGLISH) -> str:
    """Return an act beside moves and rulings in words: ``agrees to the take-back that entry 12 proposes``."""
    match act:
        case events.Protested(_, against, rule_id, seat):
            return _for(seat, say("told.protested", n=against, rule=rule_id), say)
        case events.Appealed(_, against, rule_id, seat):
            return _for(seat, say("told.appealed", n=against, rule=rule_id), say)
        case events.Consented(_, to_seq, seat):
            return _for(seat, say("told.consented", n=to_seq), say)
        case events.TakeBackProposed(_, to_seq, seat):
            return _for(seat, say("told.proposed", n=to_seq), say)
        case events.Corrected(_, to_seq):
            return say("told.corrected", n=to_seq)
        case events.Resigned(_, seat):
            return _for(seat, say("told.resigned"), say)
        case events.KeyChanged(_, seat, key):
            short = f"{key.hex()[:16]}…"
            if seat == events.UNNAMED:
                return say("told.key", key=short)
            return say("told.key.of", player=seat, key=short)
        case _:
            assert_never(act)


def _for(seat: int, words: str, say: Words) -> str:
    return words if seat == events.UNNAMED else say("told.for", what=words, player=seat)


def ruling_words(ruled: events.Ruled, move: str = "", say: Words = IN_ENGLISH) -> str:
    """Return what an arbiter rules, without the reason. ``move``: of ``Accept``, in notation."""
    of = f" ({ruled.rule_id})" if ruled.rule_id else ""
    on = say("told.on", n=ruled.decides) if ruled.decides is not None else ""
    return f"{_ruling(ruled.ruling, move, say)}{of}{on}"


def _ruling(ruling: events.Ruling, move: str, say: Words) -> str:
    match ruling:
        case events.Restore(to_seq):
            return say("told.restore", n=to_seq)
        case events.Adjudicate(result):
            return say("told.adjudicate", result=result_words(result, say))
        case events.SetClock(seat, left_ms):
            return say("told.set_clock", player=seat, time=in_words(left_ms))
        case events.Penalty(seat):
            return say("told.line", who=player(say, seat), what=_penalty(ruling, say))
        case events.Forfeit(seat, ending):
            named = say("told.nothing") if ending is None else _ending(ending, say)
            return say("told.forfeit", player=seat, ending=named)
        case events.Reinstate(seat):
            return say("told.reinstate", player=seat)
        case events.Skip(seat):
            return say("told.skip", player=seat)
        case events.Accept(seat, _, rule_ids):
            return say("told.accept", player=seat, move=move or say("told.a_move"), rules=", ".join(rule_ids))
        case events.Void():
            return say("told.void")
        case events.Pause():
            return say("told.pause")
        case events.Resume():
            return say("told.resume")
        case events.Adjourn():
            return say("told.adjourn")
        case events.Dismiss():
            return say("told.dismiss")
        case _:
            assert_never(ruling)


def _penalty(ruling: events.Penalty, say: Words) -> str:
    parts = [
        *([say("told.off.time", time=in_words(ruling.time_ms))] if ruling.time_ms else []),
        *([say("told.off.points", n=ruling.points)] if ruling.points else []),
        *([say("told.off.strikes", n=ruling.strikes)] if ruling.strikes else []),
    ]
    return ", ".join(parts) or say("told.warning")


def _ending(ending: Ending, say: Words) -> str:
    return say(f"ending.{ending.name.lower()}")


def _author(author: events.Author, say: Words) -> str:
    """Return ``player 1``, ``scribe 0``."""
    if author.role is events.Role.SEAT:
        return player(say, author.index)
    return say(f"hash.{author.role}", n=author.index)


def entry_words(happened: Happened, notation: Notation, say: Words = IN_ENGLISH) -> str:
    """Return what an entry says, in a line; of an attempt the move, not that it was refused. Moves are in notation."""

    def move(event: Any) -> str:
        return notation.describe(event, happened.before)

    def seated(number: int, what: str) -> str:
        return say("told.line", who=player(say, number), what=what)

    def told(author: events.Author, what: str) -> str:
        return say("told.line", who=_author(author, say), what=what)

    event, seat = happened.event, happened.seat
    match event:
        case events.Moved(author, made) | events.Refused(author, made):
            mover = author.index if seat is None else seat
            is_own = author == events.Author(events.Role.SEAT, mover)
            return seated(mover, move(made)) + ("" if is_own else say("told.by", who=_author(author, say)))
        case events.Dealt(outcome):
            return say("told.chance", what=move(outcome))
        case events.Declared(author, outcome):
            return say("told.chance", what=move(outcome)) + say("told.by", who=_author(author, say))
        case events.Passed(passing):
            return seated(passing, say("told.passed"))
        case events.StoodIn(absent, made):
            return say("told.stood_in", player=absent, what=move(made))
        case events.Joined(author):
            return told(author, say("told.joined"))
        case events.Revealed(author):
            return told(author, say("told.revealed"))
        case (
            events.Resigned() | events.TakeBackProposed() | events.Consented() | events.Protested() | events.Appealed()
        ):
            return told(event.author, act_words(event, say))
        case events.Corrected() | events.KeyChanged():
            return told(event.author, act_words(event, say))
        case events.Ruled(author, ruling):
            accepted = move(ruling.move) if isinstance(ruling, events.Accept) else ""
            return say("told.ruled", who=_author(author, say), what=ruling_words(event, accepted, say))
        case events.TimedOut(late):
            return seated(late, say("told.timed_out"))
        case events.WasAbsent(absent, since_ms):
            away = max(0, happened.clock.referee_ms - since_ms)
            return seated(absent, say("told.away" if happened.in_play else "told.no_show", time=in_words(away)))
        case events.Interrupted(alive_ms):
            return say("told.interrupted", when=moment_utc(alive_ms))
        case events.Recovered(copied_ms=copied_ms) if copied_ms:
            return say("told.restored", when=moment_utc(copied_ms))
        case events.Recovered(lost_size):
            return say("told.recovered", n=lost_size - happened.seq)
        case events.Ended(result):
            return told_end(result, say)
        case events.Opened():
            return say("told.opened")
        case events.Disclosed():
            return say("told.disclosed")
        case _:
            assert_never(event)


def result_words(result: Result, say: Words = IN_ENGLISH) -> str:
    """Return points and places, as far as there are some."""
    return standings(result.scores, result.places, say)


def told_end(end: Result, say: Words = IN_ENGLISH) -> str:
    """Return how the game ended: ``end (resigned): player 1: place 1; player 2: place 2``."""
    return say("told.end", ending=_ending(end.ending, say), result=result_words(end, say))


def quoted(text: str) -> str:
    """Return a foreign text on one line, without anything that could steer a terminal."""
    return f'"{printable(" ".join(text.split()))}"'
