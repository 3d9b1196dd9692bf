"""Why a round is paired as it is, in words: each table's points and places, who floats, who meets again, the bye.

It says what the quality vector counts (docs/rules/event.md), a sentence for each thing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from referee.events.names import Names
from referee.events.words import called, quality_lines
from referee.games.event import State
from referee.games.event.acts import Origin, Pair
from referee.games.event.quality import Situation, fewest, pair
from referee.games.event.situation import situation
from referee.games.event.terms import shown
from referee.notation.outcomes import counted

_ORIGINS = {
    Origin.SWISS: "Players are paired by the standing: each table has neighbours in it, as far as that can be.",
    Origin.PLANNED: "The seating was planned in advance, so that nobody meets twice.",
    Origin.KNOCK_OUT: "The knock-out is the snake of the standing: 1, 8, 9 and 16 at one table.",
}


def reasons(state: State, paired: Pair, names: Names) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield what is explained (the round, each table, each bye) and the sentences. ``state``: before the pairing."""
    reader = _Reader(state, paired, names)
    yield "The round", list(reader.whole())
    for number, table in enumerate(paired.tables, 1):
        yield f"Table {number}", list(reader.of_table(table))
    for who in paired.byes:
        yield "Bye", list(reader.of_bye(who))


def why_lines(state: State, paired: Pair, names: Names) -> Iterator[str]:
    """Yield the same as lines of text, each with what it explains."""
    for what, sentences in reasons(state, paired, names):
        yield from (f"{what}: {sentence}" for sentence in sentences)


class _Reader:
    def __init__(self, state: State, paired: Pair, names: Names) -> None:
        self._terms = state.terms
        self._paired = paired
        self._names = names
        self._before: Situation = situation(state)
        self._place = {who: at for at, who in enumerate(self._before.standing, 1)}
        self._at: Mapping[int, int] = {who: at for at, table in enumerate(paired.tables, 1) for who in table}
        self._met = _meetings(state)
        self._by_program = paired.origin is Origin.SWISS

    def whole(self) -> Iterator[str]:
        paired = self._paired
        if paired.origin in _ORIGINS:
            yield _ORIGINS[paired.origin]
        else:
            yield f"{f'Paired by {paired.engine}' if paired.engine else 'Paired by hand'}: {paired.reason}."
            own = "; ".join(quality_lines(replace(paired, vector=paired.engine_vector)))
            yield f"The program's own pairing has {own}."
        shorts = sum(len(table) != self._terms.sizes[0] for table in paired.tables)
        if shorts and paired.origin is not Origin.KNOCK_OUT:
            players, sizes = len(self._before.standing), self._terms.sizes
            least = fewest(players, sizes)[1]
            what = f"{counted(shorts, 'table')} of another size than {sizes[0]}"
            yield f"{players} players give {what}" + (", as few as can be." if shorts <= least else ".")

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
                yield f"A table of {len(table)}: {_listed(sat)} sat at a short table before."
            else:
                yield f"A table of {len(table)}: nobody here sat at a short table before."

    def _standing(self, table: Sequence[int]) -> str:
        points = [self._before.points.get(who, 0) for who in table]
        places = sorted(self._place[who] for who in table)
        told = (
            f"Points {shown(max(points))} to {shown(min(points))}"
            if len(set(points)) > 1
            else f"Points {shown(points[0])}"
        )
        if places[-1] - places[0] + 1 == len(table):
            return f"{told}; places {places[0]} to {places[-1]} of the standing."
        return f"{told}; places {_listed(list(map(str, places)))} of the standing."

    def _floats(self, table: Sequence[int]) -> Iterator[str]:
        """Say who stands between the best and the worst of the table and sits elsewhere, and what kept them apart."""
        places = [self._place[who] for who in table]
        for place in range(min(places), max(places)):
            who = self._before.standing[place - 1]
            if who not in table and who in self._at:
                met = [other for other in table if pair(who, other) in self._met]
                why = f", and met {_listed([called(other, self._names) for other in met])} before" if met else ""
                sits = f"sits at table {self._at[who]}"
                yield f"{called(who, self._names)} stands between them, on place {place}, and {sits}{why}."

    def _pairs(self, table: Sequence[int]) -> Iterator[str]:
        for a, b in combinations(sorted(table), 2):
            both = f"{called(a, self._names)} and {called(b, self._names)}"
            if rounds := self._met.get((a, b)):
                yield f"{both} meet again: they met in {'rounds' if len(rounds) > 1 else 'round'} {_listed(rounds)}."
            if (a, b) in self._before.soft:
                but = ", but no exchange that parts them is better" if self._by_program else ""
                yield f"{both} should not meet{but}."

    def of_bye(self, who: int) -> Iterator[str]:
        had = self._before.byes.get(who, 0)
        yield f"{called(who, self._names)}: no tables of these sizes hold all players, and {_had(had)}."
        lower = [other for other in self._before.standing[self._place[who] :] if self._before.byes.get(other, 0) <= had]
        yield (
            f"{_listed([called(other, self._names) for other in lower])} stand lower, and had no more byes."
            if lower
            else "Nobody who had as few byes stands lower."
        )


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


def _had(byes: int) -> str:
    return f"this player had {counted(byes, 'bye')} before" if byes else "this player had none before"


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)
