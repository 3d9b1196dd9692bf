"""Whether an act about a table may be entered: its game, its result, what an arbiter says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from referee.games.game import Violation
from referee.tournament.rules import acts
from referee.tournament.rules.checks import broken, named, of_round, round_of
from referee.tournament.rules.position import Position
from referee.tournament.rules.terms import MAX_POINTS, PARTS


def table(position: Position, act: acts.TableAct) -> Iterator[Violation]:
    """EVT-G1 to EVT-G3, EVT-S3."""
    match act:
        case acts.OpenTable(number, table, game):
            yield from _of_table(position, number, table)
            if any(game in each.games.values() for each in position.rounds):
                yield broken("EVT-G1", "the game is another table's", round=number, table=table)
        case acts.EnterResult(number, table, result):
            yield from _of_table(position, number, table)
            yield from _result(position, number, table, result)
            if table in _results(position, number):
                yield broken("EVT-G3", "the table has a result; another is an amendment", round=number, table=table)
        case acts.Amend(number, table, result):
            yield from _known_round(position, number)
            yield from _result(position, number, table, result)
            if table not in _results(position, number):
                yield broken("EVT-G3", "the table has no result to amend", round=number, table=table)
        case acts.Award(number, who, points):
            yield from _known_round(position, number)
            yield from named(position, who)
            if points > MAX_POINTS * PARTS:
                yield broken("EVT-G5", f"more than {MAX_POINTS} points", entrant=who, points=points)
        case acts.Void(number, table):
            yield from _of_table(position, number, table)


def in_seat_order(declared: Sequence[int]) -> bool:
    """Return whether the seats that a game declares to be first are so in their own order (EVT-O2)."""
    return tuple(declared) == tuple(range(len(declared)))


def _results(position: Position, number: int) -> Mapping[int, acts.Result]:
    round_ = round_of(position, number)
    return {} if round_ is None else round_.results


def _known_round(position: Position, number: int) -> Iterator[Violation]:
    """EVT-G2: what is entered of a round is of one that was published."""
    round_ = round_of(position, number)
    if round_ is None or not round_.is_published:
        yield broken("EVT-G2", "the round is not published", round=number)


def _of_table(position: Position, number: int, table: int) -> Iterator[Violation]:
    yield from of_round(position, number, published=True)
    round_ = round_of(position, number)
    if round_ is not None and not 1 <= table <= len(round_.tables):
        yield broken("EVT-G2", "the round has no such table", round=number, table=table)


def _result(position: Position, number: int, table: int, result: acts.Result) -> Iterator[Violation]:
    """EVT-G2, EVT-S3: the result is of this table's seats, with places that can be."""
    round_ = round_of(position, number)
    if round_ is None or not 1 <= table <= len(round_.tables):
        yield broken("EVT-G2", "the round has no such table", round=number, table=table)
        return
    where = {"round": number, "table": table}
    seats, places = len(round_.tables[table - 1]), result.places
    there = [place for place in places if place]
    if len(places) != seats or any(place != 1 + sum(other < place for other in there) for place in there):
        yield broken("EVT-G2", f"expected a place for each of {seats} seats, 1 the best, 0 who was not there", **where)
        return
    if result.scores and len(result.scores) != seats:
        yield broken("EVT-G2", f"expected the scores of {seats} seats, or none", **where)
    if any(not (seat < seats and places[seat]) for seat in result.forfeited) or list(result.forfeited) != sorted(
        set(result.forfeited)
    ):
        yield broken("EVT-G2", "who forfeits was at the table, and is named once, in the order of the seats", **where)
    if not round_.is_knock_out and position.terms.place_points(len(there)) is None:
        what = f"{len(there)} at the table, for whom the terms have no points: void it, and award points"
        yield broken("EVT-S3", what, **where)
    if len(there) < 2:
        yield broken("EVT-S3", "a table is played by two or more", **where)
    if result.log is not None and (game := round_.games.get(table)) is not None and game != result.log.game_id:
        yield broken("EVT-G1", "the log is of another game than the one opened for the table", **where)
    if result.log is not None and any(
        result.log.game_id == other.log.game_id
        for each in position.rounds
        for at, other in each.results.items()
        if other.log is not None and (each.number, at) != (number, table)
    ):
        yield broken("EVT-G1", "the log is another table's", **where)
