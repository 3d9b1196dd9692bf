"""A tournament made again from a document: the rules judge every act, as when it was entered first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from referee.log.events import Moved
from referee.log.judge import Happened
from referee.log.replay import Record
from referee.tournament.document import History, Read, document
from referee.tournament.log import EventLog
from referee.tournament.names import Names
from referee.tournament.organiser import advance, end_round, given
from referee.tournament.rules import State
from referee.tournament.rules.acts import Abandon, Close, Pair, Withdraw
from referee.tournament.rules.scoring import Row, standings, standings_hash, table_points
from referee.tournament.rules.situation import seeds


def rebuild(log: EventLog, read: Read) -> None:
    """Enter what a document says into a new event with its terms. Raise ``LogError`` for what breaks the rules."""
    for act in read.opening:
        log.enter(act)
    for acts, closed in zip(read.rounds, read.closed, strict=True):
        advance(log)
        for act in acts:
            if isinstance(act, Pair) and log.state.is_cut:
                _leave(log, act)
            if isinstance(act, Pair) and read.is_bare:
                log.enter(given(log.state, act.tables, act.byes, act.reason, act.engine))
            else:
                log.enter(act)
        if closed:
            end_round(log)
    if read.closed and read.closed[-1]:
        advance(log)
    for act in read.after:
        # A player who missed the knock-out has withdrawn already.
        if not (isinstance(act, Withdraw) and log.state.entrants[act.number].has_withdrawn):
            log.enter(act)
    if read.is_over:
        _end(log)


def _leave(log: EventLog, pair: Pair) -> None:
    """Enter that those have left who reached this round of the knock-out and are not in it; others move up for them."""
    paired = {who for table in pair.tables for who in table}
    while missing := [who for who in seeds(log.state) if who not in paired]:
        log.enter(Withdraw(missing[0]))


def _end(log: EventLog) -> None:
    end = Close(standings_hash(log.state))
    log.enter(Abandon("as the document says") if log.state.check(end) else end)


def differences(state: State, read: Read) -> Iterator[str]:
    """Yield what a document states of points and standings that does not follow from its results."""
    for (round_, table), stated in sorted(read.points.items()):
        result = state.rounds[round_ - 1].played(table)
        found = () if result is None else table_points(state.terms, result)
        if stated != found:
            yield f"round {round_}, table {table}: points {_listed(stated)}; by the places {_listed(found)} (EVT-S1)"
    rows = standings(state) if state.key else ()
    for place, (row, other) in enumerate(zip(read.standings, rows, strict=False), 1):
        yield from _difference(state, place, row, other)
    if len(read.standings) != len(rows):
        yield f"standings: {len(read.standings)} rows, expected {len(rows)} (EVT-S14)"


def _difference(state: State, place: int, row: Row, expected: Row) -> Iterator[str]:
    where = f"standings, place {place}"
    if row.number != expected.number:
        yield f"{where}: entrant {row.number}; by the results {expected.number} (EVT-S14)"
    elif row.points != expected.points:
        yield f"{where}, entrant {row.number}: {row.points}/60 points; by the results {expected.points}/60 (EVT-S14)"
    else:
        for tie_break, stated, found in zip(state.terms.tie_breaks, row.tie_breaks, expected.tie_breaks, strict=True):
            if stated != found:
                yield f"{where}, entrant {row.number}, {tie_break.id}: {stated}; by the results {found} (EVT-S14)"


def _listed(points: Sequence[int]) -> str:
    return ", ".join(map(str, points)) or "none"


def exported(log: EventLog, names: Names) -> dict[str, object]:
    """Return the event of a log as a document."""
    history = History()
    for happened in read_again(log):
        if isinstance(happened.event, Moved) and isinstance(happened.before, State):
            history.take(happened.before, happened.event.move)
    return document(log.state, history, names, log.event_id)


def read_again(log: EventLog) -> Iterator[Happened]:
    """Yield every entry with its effect on the event."""
    record = Record(log.record.open_data)
    for data in log.entries:
        yield record.reread(data)
