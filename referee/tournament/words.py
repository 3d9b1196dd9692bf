"""An event in words: what an act breaks, tables, standings. Plain text, a line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Final

from referee.games.game import Violation
from referee.text.notation.outcomes import IN_ENGLISH, counted
from referee.text.words.catalogue import Words
from referee.tournament.names import Names
from referee.tournament.pairing.planned import advice, rounds_possible
from referee.tournament.rules import TOURNAMENT, State
from referee.tournament.rules.acts import Pair
from referee.tournament.rules.quality import Vector
from referee.tournament.rules.scoring import Row, standings
from referee.tournament.rules.terms import shown

_TEXTS: Final = {rule.id: rule.text for rule in TOURNAMENT.catalogue}
_MOST: Final = 5


def told_broken(violations: Sequence[Violation]) -> str:
    """Return what is wrong, and the rules that say so."""
    told = [_sentence(each) for each in violations[:_MOST]]
    more = len(violations) - _MOST
    return "; ".join([*told, *([f"and {more} more"] if more > 0 else [])])


def _sentence(violation: Violation) -> str:
    facts = dict(violation.facts)
    what = str(facts.pop("what", ""))
    where = ", ".join(f"{name} {fact}" for name, fact in facts.items())
    said = ": ".join(part for part in (where, what) if part)
    return f'{said} ({violation.rule_id}: "{_TEXTS[violation.rule_id]}")'


def table_lines(pair: Pair, names: Names, say: Words = IN_ENGLISH) -> Iterator[str]:
    """Yield a line for each table, players in the order of their seats, then the byes."""
    for number, table in enumerate(pair.tables, 1):
        yield say("pairing.table", n=number, players=", ".join(called(who, names) for who in table))
    for who in pair.byes:
        yield say("pairing.bye", player=called(who, names))


def called(who: int, names: Names) -> str:
    """Return ``3 Cara``, or the number alone where no name is known."""
    return f"{who} {names[who]}" if who in names.people else str(who)


def quality_lines(pair: Pair, say: Words = IN_ENGLISH) -> Iterator[str]:
    """Yield the vector in words, and the bound of the spread."""
    if not pair.vector:
        return
    for name, value in Vector(*pair.vector)._asdict().items():
        if name == "spread":
            yield say("quality.spread", value=shown(value), bound=shown(pair.bound))
        elif value or name == "repeats":
            yield say(f"quality.{name}", value=value)


def standing_lines(state: State, names: Names, rows: Sequence[Row] | None = None) -> Iterator[str]:
    """Yield a line for each entrant: place, points, tie-breaks rounded to three digits."""
    rows = standings(state) if rows is None else rows
    figures = [["place", "points", *(each.id for each in state.terms.tie_breaks)]]
    players = ["entrant"]
    for row in rows:
        figures.append([str(row.place), shown(row.points), *map(rounded, row.tie_breaks)])
        left = " (withdrawn)" if state.entrants[row.number].has_withdrawn else ""
        players.append(called(row.number, names) + left)
    widths = [max(map(len, column)) for column in zip(*figures, strict=True)]
    for cells, name in zip(figures, players, strict=True):
        yield "  ".join([*(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)), name])


def rounded(fraction: Fraction) -> str:
    """Return a fraction as a decimal with three digits, for people."""
    return f"{float(fraction):.3f}"


def status_lines(state: State, names: Names) -> Iterator[str]:
    """Yield how the event stands and what is missing."""
    there = [number for number, each in state.entrants.items() if each.plays(state.next_round)]
    yield f"{state.terms.name}, {counted(len(state.entrants), 'entrant')}, {len(there)} there"
    round_ = state.round
    if state.phase.name == "OVER":
        yield "the event was abandoned" if state.is_abandoned else "the event is over"
    elif round_ is None:
        yield "round 1 is not paired"
        yield from possible_lines(len(there), state.terms.sizes)
    elif round_.is_closed:
        yield f"round {round_.number} is closed"
    elif not round_.is_published:
        yield f"round {round_.number} is paired and not published"
    else:
        yield f"round {round_.number} is played: {counted(len(round_.undecided), 'table')} without a result"
        for number in round_.undecided:
            yield f"table {number}: {', '.join(called(who, names) for who in round_.tables[number - 1])}"


def possible_lines(players: int, sizes: Sequence[int]) -> Iterator[str]:
    """Yield how many rounds so many can play without meeting twice, and which sizes of tables would give more."""
    if players > 1:
        possible = rounds_possible(players, sizes)
        known = f"{possible.reached} are known, more than {possible.ceiling} cannot be"
        yield f"rounds in which nobody meets twice: {known}"
        yield advice(players)


def lines(text: Iterable[str]) -> str:
    """Return lines as they are printed."""
    return "".join(f"{line}\n" for line in text)
