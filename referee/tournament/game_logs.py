"""The log of a table's game: the result in it, and what is wrong with it for this table of this tournament."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from referee.games.game import InputError
from referee.log import file
from referee.log.arbitration import Arbitration
from referee.log.audit import audit
from referee.log.entry import decode_open
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy, Report, Verdict
from referee.text.notation.outcomes import counted, players
from referee.tournament.rules import State
from referee.tournament.rules.acts import GameLog, Result
from referee.tournament.rules.check import in_seat_order

UNPLACED: Final = "it does not say for which event, round and table it is, and the event does not name it (EVT-G1)"


Auditor = Callable[[Path, Policy], Report]
"""Audits a file. Raises ``OSError``, and as ``audit`` does."""


def audit_alone(path: Path, policy: Policy) -> Report:
    """Audit a file alone."""
    with path.open("rb") as stream:
        return audit(stream, policy)


class Where(NamedTuple):
    """A table of an event, which has that number."""

    event_id: int
    round: int
    table: int


class LogRead(NamedTuple):
    """The facts that a game's log gives."""

    result: Result | None
    wrong: list[str]
    """The audit, EVT-G1, EVT-O2."""
    is_placed: bool = True
    """True if the game names its table, or the event names it for this one."""
    is_logged: bool = False
    """The auditor has found its last head in the public log."""
    unlogged: str = ""
    """The reason why it was not found, where that was demanded."""

    @property
    def against(self) -> list[str]:
        """Return what is against taking the result for the table."""
        return self.wrong if self.is_placed else [*self.wrong, UNPLACED]


def read_game(path: Path, policy: Policy, state: State, where: Where, auditor: Auditor = audit_alone) -> LogRead:
    """Read the game that is, or is to be, a table's. Raise ``OSError``."""
    report = auditor(path, policy)
    # A game that is not known to be logged is the game of the table all the same.
    told = {Verdict.UNLOGGED} | ({Verdict.UNTRUSTED_KEY} if policy.verifier is None else set())
    if failed := next((finding for finding in report.findings if finding.verdict not in told), None):
        return LogRead(None, [f"the game does not audit: {failed.verdict.name}: {failed}"])
    with path.open("rb") as stream:
        record = Record.replay(file.entries(stream))
    try:
        found = of_record(record, path.name)
    except InputError as error:
        return LogRead(None, [error.what])
    opened = decode_open(record.open_data)
    wrong = [*of_table(opened, state, where), *_players(opened, report, state, where), *_order(record)]
    named = state.rounds[where.round - 1].games.get(where.table)
    unlogged = next((finding.what for finding in report.findings if finding.verdict is Verdict.UNLOGGED), "")
    is_placed = opened.HasField("event_id") or named == record.game_id
    return LogRead(found, wrong, is_placed, report.is_logged, unlogged)


def from_log(path: Path, state: State, where: Where) -> Result:
    """Return what the log of a game gives this table, if there is one. Raise ``InputError``, ``OSError``."""
    rounds = state.rounds
    if where.round > len(rounds) or not 1 <= where.table <= len(rounds[where.round - 1].tables):
        raise InputError("TABLE", f"round {where.round}, table {where.table}", "a table that the round has (EVT-G2)")
    read = read_game(path, Policy(), state, where)
    if read.result is None or read.against:
        raise InputError(str(path), read.against[0], "the whole log of this table's game, which is over")
    return read.result


def of_table(opened: log_pb2.GameOpen, state: State, where: Where) -> Iterator[str]:
    """Yield what the game was opened with that is not this table's."""
    named = (opened.event_id, opened.round, opened.table)
    if opened.rules_id != state.terms.game:
        yield f"a game of {opened.rules_id}; expected {state.terms.game} (EVT-G1)"
    if opened.HasField("event_id") and named != where:
        yield f"opened for event {named[0]}, round {named[1]}, table {named[2]} (EVT-G1)"


def _players(opened: log_pb2.GameOpen, report: Report, state: State, where: Where) -> Iterator[str]:
    entrants = state.rounds[where.round - 1].tables[where.table - 1]
    for who, seat in zip(entrants, report.seats, strict=False):
        entrant = state.entrants[who]
        if entrant.key and seat.key != entrant.key:
            yield f"player {seat.seat + 1} signed with another key than entrant {who} registered (EVT-G1)"
        player = opened.seats[seat.seat].player
        if player and entrant.player and player != entrant.player:
            yield f"player {seat.seat + 1} is another one, by the opening of the game, than entrant {who} (EVT-G1)"
    if len(report.seats) != len(entrants):
        yield f"{counted(len(report.seats), 'player')}; expected {len(entrants)} (EVT-G1)"


def _order(record: Record) -> Iterator[str]:
    declared = record.game.position.options.declared_seats
    if not in_seat_order(declared):
        verb = "are" if len(declared) > 1 else "is"
        yield f"{players(declared)} {verb} first, as declared; expected player 1 first (EVT-O2)"


def from_scores(scores: Sequence[int], forfeited: tuple[int, ...] = ()) -> Result:
    """Return the result that points of the game give: who forfeited is last."""
    keys = [(seat in forfeited, -score) for seat, score in enumerate(scores)]
    return Result(tuple(1 + sum(other < key for other in keys) for key in keys), tuple(scores), forfeited)


def of_record(record: Record, name: str) -> Result:
    """Return the result of a game that is over, with size and root of its log. Raise ``InputError``."""
    end = record.game.end
    if end is None or not end.places:
        raise InputError(name, "the game is not over, or has no result", "the log of a game with places")
    arbitration: Arbitration = record.game.arbitration
    log = GameLog(record.game_id, record.size, record.root())
    return Result(end.places, end.scores, tuple(sorted(arbitration.out)), log)
