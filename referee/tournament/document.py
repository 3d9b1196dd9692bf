"""A tournament as one JSON document, docs/event.schema.json: written from a log, read as the acts that make it again.

Reading judges nothing: the acts go through the rules like any others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, NoReturn, TypeVar

from referee.games.game import InputError, SetupError
from referee.tournament.names import Names
from referee.tournament.rules import State, Terms, acts
from referee.tournament.rules.round import VOID, Round
from referee.tournament.rules.scoring import Row, standings, table_points
from referee.tournament.rules.terms import TieBreak

FORMAT: Final = "tile-referee-event"
VERSION: Final = 1


@dataclass
class History:
    """The past of an event, which its state lacks: the seed, the reasons for pairings, the amendments."""

    seed: bytes = b""
    pairs: dict[int, acts.Pair] = field(default_factory=dict)
    """The pairings by round."""
    earlier: dict[tuple[int, int], list[tuple[int, acts.Result, str]]] = field(default_factory=dict)
    """Earlier results by round and table, with the rounds paired when each was replaced, and why."""
    awards: dict[tuple[int, int], list[tuple[int, int, str]]] = field(default_factory=dict)
    """Awards by round and entrant: rounds paired when points were given, these, and why; the last count."""
    voids: dict[tuple[int, int], str] = field(default_factory=dict)
    """The reasons why tables do not count, by round and table."""

    def take(self, state: State, act: acts.Act) -> None:
        """Note an act; ``state``: before it."""
        paired = len(state.rounds)
        match act:
            case acts.Draw(seed):
                self.seed = seed
            case acts.Pair():
                self.pairs[act.round] = act
                self.earlier = {key: each for key, each in self.earlier.items() if key[0] != act.round}
                self.awards = {key: each for key, each in self.awards.items() if key[0] != act.round}
                self.voids = {key: each for key, each in self.voids.items() if key[0] != act.round}
            case acts.Amend(round_, table, _, reason):
                before = state.rounds[round_ - 1].results[table]
                self.earlier.setdefault((round_, table), []).append((paired, before, reason))
            case acts.Award(round_, number, points, reason):
                self.awards.setdefault((round_, number), []).append((paired, points, reason))
            case acts.Void(round_, table, reason):
                self.voids[round_, table] = reason
                self.earlier.pop((round_, table), None)


# Written


def document(state: State, history: History, names: Names, event_id: int) -> dict[str, Any]:
    """Return the event as JSON has it. ``names``: empty to leave them out."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "event_id": event_id,
        "terms": _terms(state.terms),
        "seed": history.seed.hex(),
        "entrants": [_entrant(state, number, names) for number in sorted(state.entrants)],
        "forbidden": [{"pair": list(pair), "hard": hard} for pair, hard in sorted(state.forbidden.items())],
        "plan": [{"round": number, "tables": _lists(tables)} for number, tables in sorted(state.plan.items())],
        "rounds": [_round(state, each, history) for each in state.rounds],
        "standings": [_row(state.terms, row) for row in standings(state)] if state.key else [],
        "is_over": state.phase.name == "OVER",
    }


def _terms(terms: Terms) -> dict[str, Any]:
    return vars(terms) | {
        "sizes": list(terms.sizes),
        "points": _lists(terms.points),
        "tie_breaks": [each.id for each in terms.tie_breaks],
        "commitment": terms.commitment.hex(),
    }


def _lists(tables: Iterable[Iterable[int]]) -> list[list[int]]:
    return [list(table) for table in tables]


def _entrant(state: State, number: int, names: Names) -> dict[str, Any]:
    entrant = state.entrants[number]
    return {
        "number": number,
        **({"name": names[number]} if number in names.people else {}),
        "player": entrant.player.hex(),
        "key": entrant.key.hex(),
        "commitment": entrant.commitment.hex(),
        "share": entrant.share.hex(),
        "checked_in": entrant.is_there,
        "first_round": entrant.first_round,
        "late_points": entrant.late_points,
        "withdrawn": entrant.has_withdrawn,
        "expelled": entrant.is_expelled,
    }


def _round(state: State, round_: Round, history: History) -> dict[str, Any]:
    pair = history.pairs[round_.number]
    tables = enumerate(round_.tables, 1)
    return {
        "round": round_.number,
        "origin": round_.origin.words,
        "engine": pair.engine,
        "reason": pair.reason,
        "vector": list(round_.vector),
        "engine_vector": list(pair.engine_vector),
        "bound": round_.bound,
        "published": round_.is_published,
        "closed": round_.is_closed,
        "byes": list(round_.byes),
        "absent": [] if round_.is_knock_out else _absent(state, round_),
        "tables": [_table(state, round_, number, players, history) for number, players in tables],
        "awards": [
            {"number": number, "points": points, "paired": paired, "reason": reason}
            for (at, number), given in sorted(history.awards.items())
            for paired, points, reason in given
            if at == round_.number
        ],
    }


def _absent(state: State, round_: Round) -> list[int]:
    """Return who had come to the event and did not play in the round."""
    come = [who for who, each in state.entrants.items() if each.is_there and each.first_round <= round_.number]
    return sorted(set(come) - {*round_.seats, *round_.byes})


def _table(state: State, round_: Round, number: int, players: Sequence[int], history: History) -> dict[str, Any]:
    key = (round_.number, number)
    result = round_.results.get(number)
    table: dict[str, Any] = {"table": number, "players": list(players), "result": None}
    if number in round_.games:
        table["game"] = round_.games[number].hex()
    if key in history.voids:
        table["void"] = history.voids[key]
    if result is not None and result != VOID:
        table["result"] = _result(result)
        if not round_.is_knock_out:
            table["points"] = list(table_points(state.terms, result))
    if earlier := history.earlier.get(key):
        table["earlier"] = [
            {"result": None if each == VOID else _result(each), "paired": paired, "reason": reason}
            for paired, each, reason in earlier
        ]
    return table


def _result(result: acts.Result) -> dict[str, Any]:
    log = result.log
    return {
        "places": list(result.places),
        "scores": list(result.scores),
        "forfeited": list(result.forfeited),
        "log": None if log is None else {"game_id": log.game_id.hex(), "size": log.size, "root": log.root.hex()},
    }


def _row(terms: Terms, row: Row) -> dict[str, Any]:
    named = zip(terms.tie_breaks, row.tie_breaks, strict=True)
    fractions = {each.id: f"{value.numerator}/{value.denominator}" for each, value in named}
    return {"place": row.place, "number": row.number, "points": row.points, "tie_breaks": fractions}


# Read


@dataclass(frozen=True)
class Read:
    """The contents of a document."""

    terms: Terms
    seed: bytes
    """The organiser's, 32 bytes; empty before the draw."""
    opening: tuple[acts.Act, ...]
    """The acts up to the draw."""
    rounds: tuple[tuple[acts.Act, ...], ...]
    """Per round: the acts up to its end, which is left to the reader."""
    after: tuple[acts.Act, ...]
    closed: tuple[bool, ...]
    """Per round: True if it is closed."""
    is_over: bool
    names: Mapping[int, str]
    standings: tuple[Row, ...]
    points: Mapping[tuple[int, int], tuple[int, ...]]
    """The points by round and table, in 60ths, where they are stated."""
    is_bare: bool = False
    """The form states no quality of pairings, and no tie-breaks: they are computed when the event is made again."""


def read(value: Any) -> Read:
    """Read a document. Raise ``InputError`` with the path of the fault."""
    top = Field("", value)
    top.at("format").expect(FORMAT)
    top.at("version").expect(VERSION)
    terms = _read_terms(top.at("terms"))
    entrants = list(top.at("entrants").each())
    rounds = list(top.at("rounds").each())
    return Read(
        terms=terms,
        seed=top.at("seed").data(),
        opening=tuple(_opening(top, entrants)),
        rounds=tuple(tuple(_read_round(each, rounds, entrants)) for each in rounds),
        after=tuple(_leaving(entrants)),
        closed=tuple(each.at("closed").flag() for each in rounds),
        is_over=top.at("is_over").flag(),
        names={each.at("number").number(): name.text() for each in entrants if (name := each.maybe("name"))},
        standings=tuple(_read_row(terms, each) for each in top.at("standings").each()),
        points={
            (each.at("round").number(), table.at("table").number()): points.numbers()
            for each in rounds
            for table in each.at("tables").each()
            if (points := table.maybe("points"))
        },
    )


def _read_terms(terms: Field) -> Terms:
    tie_breaks = {each.id: each for each in TieBreak}
    with terms.about():
        return Terms(
            game=terms.at("game").text(),
            sizes=terms.at("sizes").numbers(),
            rounds=terms.at("rounds").number(),
            points=tuple(each.numbers() for each in terms.at("points").each()),
            commitment=terms.at("commitment").data(),
            tie_breaks=tuple(each.choice(tie_breaks) for each in terms.at("tie_breaks").each()),
            forfeit_keeps_points=terms.at("forfeit_keeps_points").flag(),
            **{
                name: terms.at(name).number()
                for name in ("bye_points", "late_until", "late_points", "cut", "cut_size", "cut_advance")
            },
        )


def _opening(top: Field, entrants: Sequence[Field]) -> Iterator[acts.Act]:
    for each in entrants:
        if each.at("first_round").number() == 1:
            yield _enter(each)
            if each.at("checked_in").flag():
                yield acts.CheckIn(each.at("number").number(), each.at("commitment").data())
    for each in top.at("forbidden").each():
        first, second = each.at("pair").numbers(2)
        yield acts.Forbid(first, second, each.at("hard").flag())
    for each in top.at("plan").each():
        yield acts.Plan(each.at("round").number(), tuple(table.numbers() for table in each.at("tables").each()))
    if seed := top.at("seed").data():
        yield acts.CloseEntries()
        for each in entrants:
            if share := each.at("share").data():
                yield acts.Share(each.at("number").number(), share)
        yield acts.Draw(seed)


def _enter(each: Field, first_round: int = 0) -> acts.Enter:
    late = each.at("late_points").number()
    return acts.Enter(each.at("number").number(), each.at("player").data(), each.at("key").data(), first_round, late)


def _leaving(entrants: Sequence[Field]) -> Iterator[acts.Act]:
    for each in entrants:
        if each.at("expelled").flag():
            yield acts.Expel(each.at("number").number(), "as the document says")
        elif each.at("withdrawn").flag():
            yield acts.Withdraw(each.at("number").number())


def _read_round(each: Field, rounds: Sequence[Field], entrants: Sequence[Field]) -> Iterator[acts.Act]:
    """Yield who came late, the pairing, its results as they were at first, then what was changed before the next."""
    number = each.at("round").number()
    for entrant in entrants:
        if entrant.at("first_round").number() == number > 1:
            yield _enter(entrant, number)
    for who in each.at("absent").numbers():
        yield acts.Absent(who, number)
    origins = {origin.words: origin for origin in acts.Origin}
    tables = list(each.at("tables").each())
    yield acts.Pair(
        number,
        tuple(table.at("players").numbers() for table in tables),
        each.at("byes").numbers(),
        each.at("vector").numbers(),
        each.at("bound").number(),
        each.at("origin").choice(origins),
        each.at("engine").text(),
        each.at("reason").text(),
        each.at("engine_vector").numbers(),
    )
    if each.at("published").flag():
        yield acts.Publish(number)
    for table in tables:
        yield from _first_result(number, table)
    for other in rounds:
        yield from _changes(other, number)


def _first_result(round_: int, table: Field) -> Iterator[acts.Act]:
    number = table.at("table").number()
    if game := table.maybe("game"):
        yield acts.OpenTable(round_, number, game.data())
    earlier = table.maybe("earlier")
    first = next(iter(earlier.each())).at("result") if earlier else table.at("result")
    if first.value is not None:
        yield acts.EnterResult(round_, number, _read_result(first))
    elif void := table.maybe("void"):
        yield acts.Void(round_, number, void.text())


def _changes(round_: Field, paired: int) -> Iterator[acts.Act]:
    """Yield the amendments and awards of a round from the time when ``paired`` rounds were paired."""
    number = round_.at("round").number()
    for table in round_.at("tables").each():
        known = table.maybe("earlier")
        earlier = [] if known is None else list(known.each())
        after = [*(one.at("result") for one in earlier[1:]), table.at("result")]
        for change, result in zip(earlier, after, strict=False):  # nothing is after what was never amended
            if change.at("paired").number() == paired and result.value is not None:
                yield acts.Amend(number, table.at("table").number(), _read_result(result), change.at("reason").text())
    for award in round_.at("awards").each():
        if award.at("paired").number() == paired:
            reason = award.at("reason").text()
            yield acts.Award(number, award.at("number").number(), award.at("points").number(), reason)


def _read_result(result: Field) -> acts.Result:
    log = result.at("log")
    pinned = None
    if log.value is not None:
        pinned = acts.GameLog(log.at("game_id").data(), log.at("size").number(), log.at("root").data())
    return acts.Result(
        result.at("places").numbers(), result.at("scores").numbers(), result.at("forfeited").numbers(), pinned
    )


def _read_row(terms: Terms, row: Field) -> Row:
    tie_breaks = row.at("tie_breaks")
    fractions: Iterable[Fraction] = [tie_breaks.at(each.id).fraction() for each in terms.tie_breaks]
    return Row(row.at("place").number(), row.at("number").number(), row.at("points").number(), tuple(fractions))


_T = TypeVar("_T")
_FRACTION = re.compile(r"(-?[0-9]{1,200})/([1-9][0-9]{0,199})\Z", re.ASCII)
_MOST = (1 << 32) - 1


@dataclass(frozen=True)
class Field:
    """A value, and where it stands in its document. Every method raises ``InputError`` for another kind of value."""

    path: str
    value: Any

    def at(self, name: str) -> Field:
        """Return a member, which must be there."""
        found = self.maybe(name)
        return found if found is not None else Field(self._below(name), _NOTHING)._refuse("this field")

    def maybe(self, name: str) -> Field | None:
        """Return a member, if it is there."""
        if not isinstance(self.value, dict):
            self._refuse("an object")
        return Field(self._below(name), self.value[name]) if name in self.value else None

    def each(self) -> Iterator[Field]:
        """Yield the elements of a list."""
        if not isinstance(self.value, list):
            self._refuse("a list")
        return (Field(f"{self.path}[{at}]", value) for at, value in enumerate(self.value))

    def expect(self, value: str | int) -> None:
        """Refuse another value."""
        if self.value != value or type(self.value) is not type(value):
            self._refuse(str(value))

    def text(self) -> str:
        """Return a string."""
        return self.value if isinstance(self.value, str) else self._refuse("text")

    def number(self) -> int:
        """Return an integer of 32 bits from 0 on."""
        if type(self.value) is not int or not 0 <= self.value <= _MOST:
            self._refuse("a number from 0 on")
        return self.value

    def numbers(self, count: int | None = None) -> tuple[int, ...]:
        """Return a list of integers, which can have a sign."""
        found = tuple(each.value for each in self.each())
        if not all(type(each) is int and abs(each) <= _MOST for each in found) or count not in (None, len(found)):
            self._refuse("a list of numbers" if count is None else f"a list of {count} numbers")
        return found

    def flag(self) -> bool:
        """Return true or false."""
        return self.value if isinstance(self.value, bool) else self._refuse("true or false")

    def data(self) -> bytes:
        """Return what hexadecimal digits say."""
        try:
            return bytes.fromhex(self.text())
        except ValueError:
            self._refuse("hexadecimal digits")

    def fraction(self) -> Fraction:
        """Return ``3/4``."""
        found = _FRACTION.match(self.text())
        return Fraction(int(found[1]), int(found[2])) if found else self._refuse("a fraction such as 3/4")

    def choice(self, choices: Mapping[str, _T]) -> _T:
        """Return what a word stands for."""
        if self.text() not in choices:
            self._refuse(f"one of {', '.join(choices)}")
        return choices[self.text()]

    @contextmanager
    def about(self) -> Iterator[None]:
        """Name this value in errors about things made of it."""
        try:
            yield
        except SetupError as error:
            raise InputError(self._below(error.field), error.what, error.expected) from None

    def _below(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def _refuse(self, expected: str) -> NoReturn:
        shown = "nothing" if self.value is _NOTHING else repr(self.value)[:60]
        raise InputError(self.path or "the document", shown, expected)


_NOTHING = object()
"""The value of a missing member."""
