"""A tournament in words: acts, broken rules, tables, standings, reasons for a pairing. Plain text, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Final, assert_never

from referee.games.game import Violation
from referee.log.events import Ended, Moved
from referee.log.judge import Happened
from referee.text.notation.outcomes import IN_ENGLISH, counted, players
from referee.text.notation.times import moment
from referee.text.words.catalogue import Words
from referee.tournament.names import Names
from referee.tournament.pairing.planned import advice, rounds_possible
from referee.tournament.rules import TOURNAMENT, State, acts
from referee.tournament.rules.acts import Origin, Pair
from referee.tournament.rules.quality import Situation, Vector, fewest, pair
from referee.tournament.rules.scoring import Row, standings
from referee.tournament.rules.situation import situation
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
    """Yield how many rounds these players can have without a repeat, and which sizes of tables would give more."""
    if players > 1:
        possible = rounds_possible(players, sizes)
        known = f"{possible.reached} are known, more than {possible.ceiling} cannot be"
        yield f"rounds in which no two players meet twice: {known}"
        yield advice(players)


def lines(text: Iterable[str]) -> str:
    """Return lines as they are printed."""
    return "".join(f"{line}\n" for line in text)


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
            return "the cut: the best advance to the knock-out"
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
    out = f", forfeited: {players(result.forfeited)}" if result.forfeited else ""
    log = f", log {result.log.game_id.hex()}" if result.log is not None else ""
    return f"places {' '.join(map(str, result.places))}{scores}{out}{log}"


# Why a round is paired as it is, in words: each table's points and places, who floats, who meets again, the bye.
#
# It says what the quality vector counts (docs/rules/event.md), a sentence for each thing.

_EXPLAINED = (Origin.SWISS, Origin.PLANNED, Origin.KNOCK_OUT)


def reasons(state: State, paired: Pair, names: Names, say: Words = IN_ENGLISH) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield what is explained (the round, each table, each bye) and the sentences. ``state``: before the pairing."""
    reader = _Reader(state, paired, names, say)
    yield say("why.round"), list(reader.whole())
    for number, table in enumerate(paired.tables, 1):
        yield say("why.table", n=number), list(reader.of_table(table))
    for who in paired.byes:
        yield say("why.bye"), list(reader.of_bye(who))


def why_lines(state: State, paired: Pair, names: Names, say: Words = IN_ENGLISH) -> Iterator[str]:
    """Yield the reasons as lines of text, each with its subject."""
    for what, sentences in reasons(state, paired, names, say):
        yield from (f"{what}: {sentence}" for sentence in sentences)


class _Reader:
    def __init__(self, state: State, paired: Pair, names: Names, say: Words) -> None:
        self._say = say
        self._terms = state.terms
        self._paired = paired
        self._names = names
        self._before: Situation = situation(state)
        self._place = {who: at for at, who in enumerate(self._before.standing, 1)}
        self._at: Mapping[int, int] = {who: at for at, table in enumerate(paired.tables, 1) for who in table}
        self._met = _meetings(state)
        self._by_program = paired.origin is Origin.SWISS

    def whole(self) -> Iterator[str]:
        paired, say = self._paired, self._say
        if paired.origin in _EXPLAINED:
            yield say(f"why.{paired.origin.name.lower()}")
        else:
            yield say(f"why.by_{'program' if paired.engine else 'hand'}", program=paired.engine, reason=paired.reason)
            own = "; ".join(quality_lines(replace(paired, vector=paired.engine_vector), say))
            yield say("why.own", quality=own)
        shorts = sum(len(table) != self._terms.sizes[0] for table in paired.tables)
        if shorts and paired.origin is not Origin.KNOCK_OUT:
            players, sizes = len(self._before.standing), self._terms.sizes
            least = fewest(players, sizes)[1]
            what = say("why.tables", n=shorts)
            yield say(f"why.sizes{'.fewest' if shorts <= least else ''}", players=players, tables=what, size=sizes[0])

    def of_table(self, table: Sequence[int]) -> Iterator[str]:
        if not all(who in self._place for who in table):
            return
        if self._before.points and any(self._before.points.values()):
            yield self._standing(table)
            yield from self._floats(table)
        yield from self._pairs(table)
        if len(table) != self._terms.sizes[0]:
            sat = [called(who, self._names) for who in table if self._before.shorts.get(who)]
            if sat:
                yield self._say("why.short", n=len(table), players=self._listed(sat))
            else:
                yield self._say("why.short.nobody", n=len(table))

    def _standing(self, table: Sequence[int]) -> str:
        points = [self._before.points.get(who, 0) for who in table]
        places = sorted(self._place[who] for who in table)
        say, first, last = self._say, shown(max(points)), shown(min(points))
        told = say("why.points.from", first=first, last=last) if first != last else say("why.points", points=first)
        if places[-1] - places[0] + 1 == len(table):
            return say("why.places.from", points=told, first=places[0], last=places[-1])
        return say("why.places", points=told, places=self._listed(list(map(str, places))))

    def _floats(self, table: Sequence[int]) -> Iterator[str]:
        """Say who stands between the best and the worst of the table and sits elsewhere, and what kept them apart."""
        places = [self._place[who] for who in table]
        for place in range(min(places), max(places)):
            who = self._before.standing[place - 1]
            if who not in table and who in self._at:
                met = [other for other in table if pair(who, other) in self._met]
                others = self._listed([called(other, self._names) for other in met])
                told = {"player": called(who, self._names), "place": place, "table": self._at[who]}
                yield self._say(f"why.float{'.met' if met else ''}", **told, others=others)

    def _pairs(self, table: Sequence[int]) -> Iterator[str]:
        for a, b in combinations(sorted(table), 2):
            both = self._listed([called(a, self._names), called(b, self._names)])
            if rounds := self._met.get((a, b)):
                more = ".rounds" if len(rounds) > 1 else ""
                yield self._say(f"why.again{more}", players=both, rounds=self._listed(rounds))
            if (a, b) in self._before.soft:
                yield self._say(f"why.apart{'.better' if self._by_program else ''}", players=both)

    def of_bye(self, who: int) -> Iterator[str]:
        had = self._before.byes.get(who, 0)
        byes = self._say("why.had", n=had) if had else self._say("why.had.none")
        yield self._say("why.bye.of", player=called(who, self._names), byes=byes)
        lower = [other for other in self._before.standing[self._place[who] :] if self._before.byes.get(other, 0) <= had]
        yield (
            self._say("why.lower", players=self._listed([called(other, self._names) for other in lower]))
            if lower
            else self._say("why.lower.nobody")
        )

    def _listed(self, words: Sequence[str]) -> str:
        *some, last = words or [""]
        return self._say("and").join([", ".join(some), last] if some else [last])


def _meetings(state: State) -> Mapping[tuple[int, int], list[str]]:
    """Return the rounds in which two met at a table that counts."""
    met: dict[tuple[int, int], list[str]] = {}
    for round_ in state.before:
        for number, table in enumerate(round_.tables, 1):
            if (result := round_.played(number)) is not None and not round_.is_knock_out:
                there = [who for who, place in zip(table, result.places, strict=True) if place]
                for a, b in combinations(there, 2):
                    met.setdefault(pair(a, b), []).append(str(round_.number))
    return met
