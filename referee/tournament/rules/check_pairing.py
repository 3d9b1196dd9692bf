"""Whether a round's pairing, or its plan, may be entered. A module of the checker: it shares nothing with who pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from referee.games.game import Fact, Violation
from referee.tournament.rules.acts import Origin, Pair, Plan
from referee.tournament.rules.checks import broken
from referee.tournament.rules.knockout import seeds, snake
from referee.tournament.rules.phases import Phase
from referee.tournament.rules.position import Position
from referee.tournament.rules.quality import Pairing, Situation, bound, improvement, least_seats, vector, violations
from referee.tournament.rules.situation import situation


def plan(position: Position, act: Plan) -> Iterator[Violation]:
    """EVT-P11: a plan comes before its round is paired, and names each entrant once and no pair twice."""
    where: dict[str, Fact] = {"round": act.round}
    if not position.next_round <= act.round <= position.terms.rounds:
        yield broken("EVT-P11", "the round is paired already, or is none of the event", **where)
    times = Counter([who for table in act.tables for who in table])
    for who in sorted(times):
        if times[who] > 1 or who not in position.entrants:
            yield broken("EVT-P11", "an entrant twice, or one who is not there", **where, entrant=who)
    for number, table in enumerate(act.tables, 1):
        if len(table) not in position.terms.sizes:
            yield broken("EVT-P2", f"a table of {len(table)}", **where, table=number)
    met = {frozenset(two) for tables in position.plan.values() for table in tables for two in combinations(table, 2)}
    met -= {frozenset(two) for table in position.plan.get(act.round, ()) for two in combinations(table, 2)}
    for number, table in enumerate(act.tables, 1):
        for first, second in combinations(table, 2):
            if frozenset((first, second)) in met:
                what = "they meet in another round of the plan"
                yield broken("EVT-P11", what, **where, table=number, first=first, second=second)


def pair(position: Position, act: Pair) -> Iterator[Violation]:
    """EVT-P1 to EVT-P12, EVT-O1, EVT-B1, EVT-B2, EVT-K2, EVT-U2."""
    where: dict[str, Fact] = {"round": act.round}
    if position.phase is not Phase.PLAYING:
        yield broken("EVT-P12", "rounds are paired after the draw", **where)
        return
    if act.round != position.next_round:
        yield broken("EVT-P12", f"the next round is {position.next_round}", **where)
        return
    newest = position.round
    if newest is not None and not position.is_between and newest.is_published:
        rule = "EVT-U3" if newest.has_begun else "EVT-U2"
        yield broken(rule, "the round is published: an arbiter has to reopen it", **where)
    last = position.terms.rounds
    if (act.origin is Origin.KNOCK_OUT) is not position.is_cut or (act.round > last and not position.is_cut):
        yield broken("EVT-P12", f"rounds 1 to {last} come first, then the cut, then the knock-out", **where)
        return
    if position.is_cut:
        yield from _knock_out(position, act, where)
        return
    if (there := len(position.there(act.round))) < (least := min(position.terms.sizes)):
        yield broken("EVT-R4", f"{there} are there, and the smallest table has {least} seats", **where)
        return
    yield from _swiss(position, act, where)


def _swiss(position: Position, act: Pair, where: dict[str, Fact]) -> Iterator[Violation]:
    before, pairing = situation(position), Pairing(act.tables, act.byes)
    sizes = position.terms.sizes
    unlawful = violations(before, sizes, pairing)
    for each in unlawful:
        yield Violation(each.rule_id, facts={**where, **each.facts})
    if any(each.rule_id in ("EVT-P1", "EVT-P2") for each in unlawful):
        return
    found = tuple(vector(before, sizes, pairing))
    if act.vector != found:
        yield broken("EVT-P6", f"the vector is {_listed(found)}", **where, stated=_listed(act.vector))
    if act.bound != (least := bound(before, sizes, act.byes)):
        yield broken("EVT-P7", f"the bound is {least}", **where, stated=act.bound)
    match act.origin:
        case Origin.SWISS:
            if (better := improvement(before, sizes, pairing)) is not None:
                first, second = better
                yield broken("EVT-P8", "to exchange these two makes it better", **where, first=first, second=second)
            yield from _seats(before, act, where)
        case Origin.PLANNED:
            yield from _planned(position, act, where)
        case _:
            if len(act.engine_vector) != len(found):
                yield broken("EVT-P10", "the vector of the engine's own pairing is missing", **where)


def _seats(before: Situation, act: Pair, where: dict[str, Fact]) -> Iterator[Violation]:
    """EVT-O1: seats at each table are as even as they can be."""
    for number, table in enumerate(act.tables, 1):
        now, least = _squares(before, table), least_seats(before, table)
        if now > least:
            yield broken("EVT-O1", "another order of these players is more even", **where, table=number)


def _squares(before: Situation, table: tuple[int, ...]) -> int:
    """Return what ``Vector.seats`` has of one table."""
    total = 0
    for seat, who in enumerate(table):
        counts = [*before.seated.get(who, ()), *[0] * len(table)]
        counts[seat] += 1
        total += sum(count * count for count in counts)
    return total


def _planned(position: Position, act: Pair, where: dict[str, Fact]) -> Iterator[Violation]:
    """EVT-P11: the tables are those of the plan."""
    rows = position.plan.get(act.round, ())
    if [set(table) for table in rows] != [set(table) for table in act.tables]:
        yield broken("EVT-P11", "the tables are not those of the plan of this round", **where)


def _knock_out(position: Position, act: Pair, where: dict[str, Fact]) -> Iterator[Violation]:
    """EVT-K1 to EVT-K3, EVT-O3: all of it follows from the standing."""
    expected = snake(seeds(position), position.terms.cut_size)
    if len(seeds(position)) < 2:
        yield broken("EVT-R4", "fewer than two entrants are there", **where)
    stated = (tuple(map(sorted, act.tables)), act.byes, act.vector, act.bound)
    if stated != (tuple(map(sorted, expected)), (), (), 0):
        yield broken("EVT-K2", f"expected tables {'; '.join(map(_listed, expected))}, and nothing else", **where)
    elif act.tables != expected:
        yield broken("EVT-O3", f"expected seats {'; '.join(map(_listed, expected))}", **where)


def _listed(numbers: tuple[int, ...]) -> str:
    return " ".join(map(str, numbers))
