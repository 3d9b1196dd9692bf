"""Points, tie-breaks and standings: every figure is an integer or a fraction, nothing is rounded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import sha256

from referee.tournament.rules.acts import Result
from referee.tournament.rules.position import Position
from referee.tournament.rules.round import Round
from referee.tournament.rules.terms import PARTS, Terms, TieBreak

_NONE = Fraction(0)


@dataclass(frozen=True, slots=True)
class Played:
    """One entrant's round at a table that counts."""

    points: Fraction
    """The points, after an arbiter's changes."""
    relative: Fraction
    """The own points over the mean of the table; 1 if all points are 0."""
    rank: Fraction
    """1 for the first place, 0 for the last; the mean of the places that a tie takes."""
    win: Fraction
    """The share of the first place."""
    score: Fraction | None
    """The score in the game; None if the sheet does not have it."""
    opponents: tuple[int, ...]
    where: tuple[int, int]
    """Round and table."""


@dataclass(frozen=True, slots=True)
class Row:
    """One entrant in the standings."""

    place: int
    number: int
    points: int
    """The points in 60ths."""
    tie_breaks: tuple[Fraction, ...]
    """The tie-breaks in the order of the terms."""

    def __str__(self) -> str:
        fractions = " ".join(f"{each.numerator}/{each.denominator}" for each in self.tie_breaks)
        return f"{self.place} {self.number} {self.points} {fractions}".rstrip()


def table_points(terms: Terms, result: Result) -> tuple[int, ...]:
    """EVT-S1, EVT-S3: return 60ths by seat; ties share, absent and forfeited seats get none."""
    there = [place for place in result.places if place]
    by_place = terms.place_points(len(there)) or (0,) * len(there)
    points = []
    for seat, place in enumerate(result.places):
        tied = there.count(place)
        share = sum(by_place[place - 1 : place - 1 + tied]) * PARTS // tied if place else 0
        keeps = terms.forfeit_keeps_points or seat not in result.forfeited
        points.append(share if keeps else 0)
    return tuple(points)


class Scores:
    """The scores of all entrants, after these rounds before the cut."""

    def __init__(self, position: Position, rounds: Sequence[Round]) -> None:
        self._position = position
        self._rounds = [each for each in rounds if not each.is_knock_out]
        self.points: dict[int, int] = {number: each.late_points for number, each in position.entrants.items()}
        """The points by entrant, in 60ths."""
        self.played: dict[int, list[Played]] = defaultdict(list)
        """The rounds played, by entrant, in order."""
        for each in self._rounds:
            self._add(each)

    def _add(self, round_: Round) -> None:
        terms = self._position.terms
        given: dict[int, int] = dict.fromkeys(round_.byes, terms.bye_points)
        for number, table in enumerate(round_.tables, 1):
            result = round_.played(number)
            points = (0,) * len(table) if result is None else table_points(terms, result)
            points = tuple([round_.awards.get(who, each) for who, each in zip(table, points, strict=True)])
            given |= zip(table, points, strict=True)
            if result is not None:
                self._play((round_.number, number), table, result, points)
        for who, each in (given | dict(round_.awards)).items():
            self.points[who] += each

    def _play(self, where: tuple[int, int], table: Sequence[int], result: Result, points: Sequence[int]) -> None:
        there = [seat for seat, place in enumerate(result.places) if place]
        total = sum(points[seat] for seat in there)
        for seat in there:
            tied = [other for other in there if result.places[other] == result.places[seat]]
            mean = Fraction(2 * result.places[seat] + len(tied) - 1, 2)
            self.played[table[seat]].append(
                Played(
                    points=Fraction(points[seat], PARTS),
                    relative=Fraction(points[seat] * len(there), total) if total else Fraction(1),
                    rank=1 - (mean - 1) / (len(there) - 1),
                    win=Fraction(1, len(tied)) if result.places[seat] == 1 else _NONE,
                    score=Fraction(result.scores[seat]) if result.scores else None,
                    opponents=tuple([table[other] for other in there if other != seat]),
                    where=where,
                )
            )

    @cached_property
    def _means(self) -> Mapping[int, Fraction]:
        """Everybody's points a round."""
        return {who: _mean(each.points for each in self.played[who]) for who in self.points}

    def value(self, tie_break: TieBreak, number: int) -> Fraction:
        """EVT-S5 to EVT-S11: return a tie-break that does not depend on who is tied; more is better."""
        played = self.played[number]
        match tie_break:
            case TieBreak.WINS:
                return _mean(each.win for each in played)
            case TieBreak.RELATIVE:
                return _mean(each.relative for each in played)
            case TieBreak.PLACE:
                return _mean(each.rank for each in played)
            case TieBreak.GAME:
                return _mean(each.score or _NONE for each in played)
            case TieBreak.OPPONENTS | TieBreak.OPPONENTS_CUT:
                means = sorted(_mean(self._means[other] for other in each.opponents) for each in played)
                without = tie_break is TieBreak.OPPONENTS_CUT and len(means) > 1
                return _mean(means[1:] if without else means)
            case TieBreak.DIRECT:
                return _NONE

    def direct(self, tied: Sequence[int]) -> dict[int, Fraction]:
        """EVT-S10: return the mean of the ranks at tables where all of the tied met; 0 if there is none."""
        shared = set.intersection(*({each.where for each in self.played[who]} for who in tied))
        return {who: _mean(each.rank for each in self.played[who] if each.where in shared) for who in tied}

    def standings(self) -> tuple[Row, ...]:
        """EVT-S14: return the rows, best first. An expelled entrant is in none (EVT-R6)."""
        position = self._position
        numbers = [number for number, entrant in position.entrants.items() if not entrant.is_expelled]
        groups = _split([numbers], {who: Fraction(self.points[who]) for who in numbers})
        values: dict[int, list[Fraction]] = {number: [] for number in numbers}
        for tie_break in position.terms.tie_breaks:
            found: dict[int, Fraction] = {}
            for tied in groups:
                if tie_break is TieBreak.DIRECT:
                    found |= self.direct(tied) if len(tied) > 1 else dict.fromkeys(tied, _NONE)
                else:
                    found |= {who: self.value(tie_break, who) for who in tied}
            for who in numbers:
                values[who].append(found[who])
            groups = _split(groups, found)
        order = [who for tied in groups for who in sorted(tied, key=position.lot)]
        return tuple(Row(place, who, self.points[who], tuple(values[who])) for place, who in enumerate(order, 1))


def standings(position: Position) -> tuple[Row, ...]:
    """Return those after all rounds that are there, best first; after a knock-out, by how far each came (EVT-K4)."""
    rows = Scores(position, position.rounds).standings()
    if not position.knock_out:
        return rows
    came = {row.number: (0, 0) for row in rows}
    for depth, round_ in enumerate(position.knock_out, 1):
        for number, table in enumerate(round_.tables, 1):
            result = round_.played(number)
            for seat, who in enumerate(table):
                if who in came:
                    came[who] = (-depth, (result.places[seat] or len(table)) if result else len(table))
    order = sorted(rows, key=lambda row: (came[row.number], row.place))
    return tuple(Row(place, row.number, row.points, row.tie_breaks) for place, row in enumerate(order, 1))


def standings_text(rows: Iterable[Row]) -> str:
    """Return the text that is hashed: a line for each, place, number, points in 60ths, tie-breaks as fractions."""
    return "".join(f"{row}\n" for row in rows)


def standings_hash(position: Position) -> bytes:
    """Return SHA-256 of the text of the standings as they are."""
    return sha256(standings_text(standings(position)).encode()).digest()


def _mean(values: Iterable[Fraction]) -> Fraction:
    """Return the mean; 0 for an entrant who has not played."""
    found = list(values)
    return sum(found, _NONE) / len(found) if found else _NONE


def _split(groups: Iterable[list[int]], value_of: Mapping[int, Fraction]) -> list[list[int]]:
    """Return the groups, each parted by value, the highest first."""
    parted = []
    for tied in groups:
        of = defaultdict(list)
        for who in tied:
            of[value_of[who]].append(who)
        parted += [of[value] for value in sorted(of, reverse=True)]
    return parted
