"""Why a round is paired as it is, in words: each table's points and places, who floats, who meets again, the bye.

It says what the quality vector counts (docs/rules/event.md), a sentence for each thing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.words.catalogue import Words
from referee.tournament.names import Names
from referee.tournament.rules import State
from referee.tournament.rules.acts import Origin, Pair
from referee.tournament.rules.quality import Situation, fewest, pair
from referee.tournament.rules.situation import situation
from referee.tournament.rules.terms import shown
from referee.tournament.words import called, quality_lines

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
    """Yield the same as lines of text, each with what it explains."""
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
