"""The rules that an act would break. Changes nothing, and knows no program that pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from referee.games.game import Fact, Violation
from referee.tournament.rules import acts
from referee.tournament.rules.acts import Origin, Pair, Plan
from referee.tournament.rules.position import Phase, Position, commitment, share_commitment
from referee.tournament.rules.quality import Pairing, Situation, bound, improvement, least_seats, vector
from referee.tournament.rules.quality import violations as pairing_violations
from referee.tournament.rules.round import Round
from referee.tournament.rules.scoring import standings_hash
from referee.tournament.rules.situation import is_decided, seeds, situation, snake
from referee.tournament.rules.terms import MAX_ENTRANTS, MAX_POINTS, PARTS

_REASON = 200
"""Most characters of a reason."""


def violations(position: Position, event: Any) -> tuple[Violation, ...]:
    """Return every rule that the act would break."""
    return tuple(_violations(position, event))


def _violations(position: Position, act: Any) -> Iterator[Violation]:
    """EVT-E1."""
    if position.phase is Phase.OVER:
        yield broken("EVT-E1", "the event is over")
    elif isinstance(act, acts.RegisterAct):
        yield from register(position, act)
    elif isinstance(act, acts.TableAct):
        yield from table(position, act)
    elif isinstance(act, acts.RoundAct):
        yield from _round(position, act)
    else:
        yield broken("EVT-E1", "no act of an event")
        return
    yield from _reason(act)


def _round(position: Position, act: acts.RoundAct) -> Iterator[Violation]:
    match act:
        case acts.Plan():
            yield from plan(position, act)
        case acts.Pair():
            yield from pair(position, act)
        case acts.Publish(number):
            yield from of_round(position, number, published=False)
            yield from _still_there(position, number)
        case acts.Reopen(number):
            yield from of_round(position, number, published=True)
        case acts.CloseRound(number, standings):
            yield from of_round(position, number, published=True)
            yield from _close_round(position, number, standings)
        case acts.Cut():
            yield from _cut(position)
        case acts.Close(standings):
            yield from _close(position, standings)


def _reason(act: acts.Act) -> Iterator[Violation]:
    """EVT-E2: who departs from the rule says why."""
    match act:
        case acts.Pair(origin=acts.Origin.SWISS | acts.Origin.PLANNED | acts.Origin.KNOCK_OUT):
            return
        case acts.Expel() | acts.Pair() | acts.Amend() | acts.Award() | acts.Void() | acts.Reopen() | acts.Abandon():
            reason = act.reason
            if not reason.strip() or len(reason) > _REASON or not reason.isprintable():
                yield broken("EVT-E2", f"expected a reason of 1 to {_REASON} characters on one line")


def _still_there(position: Position, number: int) -> Iterator[Violation]:
    """EVT-P1: no entrant has left, or come back, since the round was paired."""
    round_ = round_of(position, number)
    if round_ is not None and not round_.is_knock_out:
        changed = set(position.there(number)) ^ {*round_.seats, *round_.byes}
        for who in sorted(changed):
            yield broken("EVT-P1", "left or came back since the round was paired", round=number, entrant=who)


def _close_round(position: Position, number: int, standings: bytes) -> Iterator[Violation]:
    """EVT-G4, EVT-S14."""
    if (round_ := round_of(position, number)) is None:
        return
    for undecided in round_.undecided:
        yield broken("EVT-G4", "the table has no result", round=number, table=undecided)
    if not round_.undecided and standings != standings_hash(position):
        yield broken("EVT-S14", "the standings are not those of the log", round=number)


def _cut(position: Position) -> Iterator[Violation]:
    if not position.terms.cut or position.is_cut:
        yield broken("EVT-K1", "the terms have no cut, or it was made")
    if not position.is_between or len(position.played) < position.terms.rounds:
        yield broken("EVT-K1", "the cut comes after the last round before the knock-out")


def _close(position: Position, standings: bytes) -> Iterator[Violation]:
    """EVT-E3, EVT-S14."""
    terms = position.terms
    done = is_decided(position) if terms.cut else len(position.rounds) == terms.rounds
    if not (done and position.is_between):
        yield broken("EVT-E3", "rounds are left to play; to stop early is to abandon")
    elif standings != standings_hash(position):
        yield broken("EVT-S14", "the standings are not those of the log")


def broken(rule_id: str, what: str, **facts: Fact) -> Violation:
    """Return that a rule is broken. ``what``: how, in words; ``facts``: where."""
    return Violation(rule_id, facts={**facts, "what": what})


def named(position: Position, *numbers: int) -> Iterator[Violation]:
    """EVT-R1, EVT-R6: an act names entrants who are in the event."""
    for number in numbers:
        if number not in position.entrants:
            yield broken("EVT-R1", "no such entrant", entrant=number)
        elif position.entrants[number].is_expelled:
            yield broken("EVT-R6", "the entrant was expelled", entrant=number)


def round_of(position: Position, number: int) -> Round | None:
    """Return the round of this number, if it is paired."""
    return position.rounds[number - 1] if 1 <= number <= len(position.rounds) else None


def of_round(position: Position, number: int, *, published: bool) -> Iterator[Violation]:
    """EVT-U1: the act is about the round that is being played."""
    round_ = round_of(position, number)
    if round_ is None or round_.is_closed:
        yield broken("EVT-U1", "the round is not paired, or is closed", round=number)
    elif round_.is_published is not published:
        yield broken("EVT-U1", "the round is published already" if not published else "not published yet", round=number)


def register(position: Position, act: acts.RegisterAct) -> Iterator[Violation]:
    """EVT-R1 to EVT-R7, EVT-S13."""
    match act:
        case acts.Enter():
            yield from _enter(position, act)
        case acts.CheckIn():
            yield from _check_in(position, act)
        case acts.Forbid(first, second):
            yield from named(position, first, second)
            if first == second:
                yield broken("EVT-R1", "a pair needs two different entrants", entrant=first)
            if position.rounds:
                yield broken("EVT-P5", "a pair is forbidden after round 1 was paired", first=first, second=second)
        case acts.CloseEntries():
            yield from _in_phase(position, Phase.ENTERING, "entries are closed already")
        case acts.Share():
            yield from _share(position, act)
        case acts.Draw(seed):
            yield from _in_phase(position, Phase.OPENING, "the draw comes once, after entries are closed")
            if commitment(seed) != position.terms.commitment:
                yield broken("EVT-S13", "the seed is not the one that the terms commit to")
        case acts.Withdraw(number):
            yield from named(position, number)
            if (known := position.entrants.get(number)) is not None and known.has_withdrawn:
                yield broken("EVT-R5", "the entrant has withdrawn already", entrant=number)
        case acts.Readmit(number):
            yield from named(position, number)
            if (known := position.entrants.get(number)) is not None and not known.has_withdrawn:
                yield broken("EVT-R5", "the entrant has not withdrawn", entrant=number)
        case acts.Absent(number, round_):
            yield from named(position, number)
            if not position.next_round <= round_ <= position.terms.rounds:
                yield broken("EVT-R7", "an absence is entered before the round is paired", entrant=number, round=round_)
        case acts.Expel(number):
            yield from named(position, number)


def _in_phase(position: Position, phase: Phase, what: str) -> Iterator[Violation]:
    if position.phase is not phase:
        yield broken("EVT-E1", what)


def _enter(position: Position, act: acts.Enter) -> Iterator[Violation]:
    """EVT-R1, EVT-R2, EVT-R3."""
    number, entrants = act.number, position.entrants.values()
    if not 1 <= number <= 0xFFFF or number in position.entrants:
        yield broken("EVT-R1", "the number is taken, or none from 1 to 65535", entrant=number)
    same = [known.number for known in entrants for name in ("player", "key") if _same(known, act, name)]
    if same:
        yield broken("EVT-R1", "an entrant enters once", entrant=number, other=same[0])
    if len(position.entrants) >= MAX_ENTRANTS:
        yield broken("EVT-R2", f"an event has at most {MAX_ENTRANTS} entrants", entrant=number)
    if position.phase is Phase.ENTERING:
        if (act.first_round, act.late_points) != (0, 0):
            what = "entries are still open, so this one begins with round 1 and is not late"
            yield broken("EVT-R3", what, entrant=number)
        return
    terms, first = position.terms, act.first_round
    if position.phase is Phase.OPENING or not position.next_round <= first <= terms.late_until:
        last = terms.late_until
        what = (
            f"a late entrant begins in a round that is not paired yet, up to round {last}"
            if last
            else "the terms of this event, fixed when it began, allow no late entries"
        )
        yield broken("EVT-R2", what, entrant=number, round=first)
    if act.late_points != terms.late_points * (first - 1):
        expected = terms.late_points * (first - 1)
        yield broken("EVT-R3", f"expected {expected}/60 for the rounds before", entrant=number, points=act.late_points)


def _same(known: Any, act: acts.Enter, name: str) -> bool:
    value = getattr(act, name)
    return bool(value) and getattr(known, name) == value


def _check_in(position: Position, act: acts.CheckIn) -> Iterator[Violation]:
    yield from named(position, act.number)
    if position.phase is not Phase.ENTERING and (act.commitment or position.phase is Phase.OPENING):
        yield broken(
            "EVT-S13", "an entrant who commits to a share checks in before entries are closed", entrant=act.number
        )
    if (known := position.entrants.get(act.number)) is not None and known.is_there:
        yield broken("EVT-R1", "the entrant has checked in already", entrant=act.number)


def _share(position: Position, act: acts.Share) -> Iterator[Violation]:
    """EVT-S13: a share opens the commitment of its entrant, once."""
    yield from named(position, act.number)
    yield from _in_phase(position, Phase.OPENING, "shares are opened between the end of entries and the draw")
    known = position.entrants.get(act.number)
    if known is not None and (known.share or share_commitment(act.number, act.seed) != known.commitment):
        yield broken("EVT-S13", "the share is opened already, or is not the one committed to", entrant=act.number)


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
    unlawful = pairing_violations(before, sizes, pairing)
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
    """EVT-G2: acts about a round are entered only after it was published."""
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
        yield broken(
            "EVT-G2", "a player who forfeits was at the table, and is named once, in the order of the seats", **where
        )
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
