"""The acts that make the tournament of a FIDE report file: tables of two, seat 0 is white.

The file has pairings, results, points and ranks. It has no lots, no tie-breaks and no quality of pairings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from referee.games import registry
from referee.games.game import InputError, SetupError
from referee.tournament.document import Read
from referee.tournament.rules import Terms
from referee.tournament.rules.acts import (
    Absent,
    Act,
    Award,
    CheckIn,
    CloseEntries,
    Draw,
    Enter,
    EnterResult,
    Forbid,
    Origin,
    Pair,
    Publish,
    Result,
)
from referee.tournament.rules.position import commitment
from referee.tournament.rules.terms import PARTS
from referee.tournament.trf import Cell, TrfReport

REASON: Final = "as the TRF says"


def acts(report: TrfReport, seed: bytes) -> Read:
    """Return the acts that make the event. ``seed``: for its lots. Raise ``InputError``."""
    rounds = max(report.rounds, report.played)
    terms = _terms(report, rounds, seed)
    opening: list[Act] = []
    for number in sorted(report.players):
        opening += [Enter(number), CheckIn(number)]
    for a, b in sorted({(min(pair), max(pair)) for pair in report.forbidden}):
        if not {a, b} <= report.players.keys():
            raise InputError("record 260", f"players {a} and {b}", "players of the file")
        opening.append(Forbid(a, b, hard=True))
    played = [tuple(_round(report, number)) for number in range(1, report.played + 1)]
    closed = tuple(_is_decided(report, number) for number in range(1, report.played + 1))
    return Read(
        terms=terms,
        seed=seed,
        opening=(*opening, CloseEntries(), Draw(seed)),
        rounds=tuple(played),
        after=(),
        closed=closed,
        is_over=len(closed) == rounds and all(closed),
        names={number: each.name for number, each in report.players.items() if each.name},
        standings=(),
        points={},
        is_bare=True,
    )


def _terms(report: TrfReport, rounds: int, seed: bytes) -> Terms:
    win, _, loss, bye = report.points
    if win % PARTS or loss % PARTS:
        raise InputError("record 162", f"{win / PARTS} for a win, {loss / PARTS} for a loss", "whole points")
    game = next((name for name in registry.names() if name in report.game.lower()), "other")
    try:
        return Terms(
            game=game,
            sizes=(2,),
            rounds=max(rounds, 1),
            points=((win // PARTS, loss // PARTS),),
            commitment=commitment(seed),
            bye_points=bye,
        )
    except SetupError as error:
        raise InputError(f"TRF, {error.field}", error.what, error.expected) from None


def _is_decided(report: TrfReport, round_: int) -> bool:
    cells = [report.cell(number, round_) for number in report.players]
    return all(cell.code != " " for cell in cells)


def _round(report: TrfReport, round_: int) -> Iterator[Act]:
    cells = {number: report.cell(number, round_) for number in sorted(report.players)}
    tables = tuple((number, cell.opponent) for number, cell in cells.items() if cell.colour == "w")
    if not tables:
        raise InputError(f"round {round_}", "no games", "two or more who play")
    away = [number for number, cell in cells.items() if cell.code in "ZHF"]
    yield from (Absent(number, round_) for number in away)
    byes = tuple(number for number, cell in cells.items() if cell.code == "U")
    yield Pair(round_, tables, byes, (), 0, Origin.EXTERNAL, report.program or "another program", REASON)
    yield Publish(round_)
    for table, (white, _) in enumerate(tables, 1):
        if (result := _result(cells[white].code, cells[tables[table - 1][1]].code)) is not None:
            yield EnterResult(round_, table, result)
    yield from _awards(report, round_, cells)


def _result(white: str, black: str) -> Result | None:
    if white == " ":
        return None
    if "-" in (white, black):
        out = tuple(seat for seat, code in enumerate((white, black)) if code == "-")
        return Result((1, 1) if len(out) == 2 else (2, 1) if white == "-" else (1, 2), forfeited=out)
    return Result({"1": (1, 2), "W": (1, 2), "0": (2, 1), "L": (2, 1)}.get(white, (1, 1)))


def _awards(report: TrfReport, round_: int, cells: Mapping[int, Cell]) -> Iterator[Award]:
    """Yield points that a cell gives who is away, and those of records 299."""
    given = {number: report.points.gained(cell.code) for number, cell in cells.items() if cell.code in "HF"}
    for line, at, number, kind, points in report.bonuses:
        if at == round_:
            if number not in cells:
                raise InputError(f"line {line}", f"player {number}", "a player of the file")
            before = given.get(number, report.points.gained(cells[number].code))
            given[number] = before + points if not kind else points
            if given[number] < 0:
                raise InputError(f"line {line}", f"player {number} has less than no points", "0 or more for a round")
    yield from (Award(round_, number, points, REASON) for number, points in sorted(given.items()))


def disagreements(report: TrfReport, points: Mapping[int, int]) -> list[str]:
    """Return what the file states of points and ranks that does not follow from its results.

    ``points``: by player, in 60ths, as the rules of events have them.
    """
    wrong = [
        f"line {player.line}, columns 81 to 84: player {number} has {player.points / PARTS:.1f} points; "
        f"by the results {points[number] / PARTS:.1f} (EVT-S14)"
        for number, player in sorted(report.players.items())
        if player.points is not None and player.points != points[number]
    ]
    ranked = sorted((each.rank, each.number) for each in report.players.values() if each.rank is not None)
    for (rank, better), (other, worse) in pairwise(ranked):
        if points[better] < points[worse] and rank < other:
            line = report.players[better].line
            wrong.append(
                f"line {line}, columns 86 to 89: player {better} is ranked {rank}, before player {worse}, "
                f"who has more points (EVT-S14)"
            )
    return wrong


def meetings_again(report: TrfReport) -> list[str]:
    """Return who met more than once, which FIDE's Swiss systems forbid (C.04.1.b); events only count it."""
    met = Counter(
        (number, cell.opponent)
        for number, player in report.players.items()
        for cell in player.cells
        if number < cell.opponent and cell.code not in "+-"
    )
    return [f"players {a} and {b} met {times} times (C.04.1.b)" for (a, b), times in sorted(met.items()) if times > 1]
