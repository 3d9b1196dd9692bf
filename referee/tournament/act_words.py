"""An act of an event in words, one line each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from referee.log.events import Ended, Moved
from referee.log.judge import Happened
from referee.text.notation.times import moment
from referee.tournament.names import Names
from referee.tournament.rules import acts
from referee.tournament.rules.terms import shown
from referee.tournament.words import called


def told(happened: Happened, names: Names) -> Iterator[str]:
    """Yield a line for an entry that is an act: its number, when, and what."""
    when = moment(happened.clock.referee_ms)
    match happened.event:
        case Moved(author, act):
            by = f", signed by {signer(author.index)}" if author.index else ""
            yield f"{happened.seq}  {when}  {describe(act, names)}{by}"
        case Ended():
            yield f"{happened.seq}  {when}  the log is closed"


def signer(scribe: int) -> str:
    """Return who signs as this scribe of the log."""
    return f"arbiter {scribe}" if scribe else "the organiser"


def describe(act: acts.Act, names: Names) -> str:
    """Return ``round 2, table 3: 1 Anna 2., 5 Eva 1.``."""
    match act:
        case acts.Enter(number, first_round=first, late_points=points):
            late = f", late, from round {first}, {shown(points)} points" if first else ""
            return f"{called(number, names)} enters{late}"
        case acts.CheckIn(number, commitment):
            return f"{called(number, names)} checks in{', with a share of the draw' if commitment else ''}"
        case acts.Forbid(first, second, hard):
            return f"{called(first, names)} and {called(second, names)} {'must' if hard else 'should'} not meet"
        case acts.CloseEntries():
            return "entries are closed"
        case acts.Share(number):
            return f"{called(number, names)} opens a share of the draw"
        case acts.Draw():
            return "lots are drawn"
        case acts.Withdraw(number):
            return f"{called(number, names)} withdraws"
        case acts.Readmit(number):
            return f"{called(number, names)} comes back"
        case acts.Absent(number, round_):
            return f"{called(number, names)} is absent from round {round_}"
        case acts.Expel(number, reason):
            return f"{called(number, names)} is expelled: {reason}"
        case acts.Cut():
            return "the cut: the best go on to the knock-out"
        case acts.Close():
            return "the event is over"
        case acts.Abandon(reason):
            return f"the event is abandoned: {reason}"
        case _:
            return f"round {act.round}{_of_round(act, names)}"


def _of_round(
    act: acts.Plan | acts.Pair | acts.Publish | acts.Reopen | acts.CloseRound | acts.TableAct, names: Names
) -> str:
    """Return the words after the number of the round."""
    match act:
        case acts.Plan(_, tables):
            return f" is planned: {_tables(tables)}"
        case acts.Pair():
            byes = f"; bye: {' '.join(map(str, act.byes))}" if act.byes else ""
            why = f", {act.engine or 'by hand'}: {act.reason}" if act.reason else ""
            return f" is paired, {act.origin.words}{why}: {_tables(act.tables)}{byes}"
        case acts.Publish():
            return " is published"
        case acts.Reopen(_, reason):
            return f" is to be paired again: {reason}"
        case acts.CloseRound():
            return " is closed"
        case acts.OpenTable(_, table, game_id):
            return f", table {table}: game {game_id.hex()}"
        case acts.EnterResult(_, table, result):
            return f", table {table}: {_result(result)}"
        case acts.Amend(_, table, result, reason):
            return f", table {table} is amended: {_result(result)}: {reason}"
        case acts.Void(_, table, reason):
            return f", table {table} does not count: {reason}"
        case acts.Award(_, number, points, reason):
            return f": {called(number, names)} is given {shown(points)} points: {reason}"
        case _:
            assert_never(act)


def _tables(tables: acts.Tables) -> str:
    return "; ".join(" ".join(map(str, table)) for table in tables)


def _result(result: acts.Result) -> str:
    scores = f", game {' '.join(map(str, result.scores))}" if result.scores else ""
    out = f", forfeited: seat {', '.join(map(str, result.forfeited))}" if result.forfeited else ""
    log = f", log {result.log.game_id.hex()}" if result.log is not None else ""
    return f"places {' '.join(map(str, result.places))}{scores}{out}{log}"
