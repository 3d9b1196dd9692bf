"""Events that were never played: people come, go, stay away, and every table ends as chance has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from random import Random

from referee.tournament.rules.quality import Pair, Pairing, Situation, fewest, pair

POINTS = (360, 240, 120, 0, 0, 0)
"""By place, in 60ths."""
BYE_POINTS = 240


@dataclass
class Event:
    """Players 1 to ``players``; more come late. Absent ones get nothing."""

    players: int
    sizes: Sequence[int]
    seed: int
    absent: float = 0.0
    withdrawn: float = 0.0
    late: float = 0.0
    forbidden: float = 0.0
    """Each: the part of the players (of ``forbidden`` pairs: for each player) whom it befalls in a round."""
    random: Random = field(init=False)
    entered: list[int] = field(init=False)
    points: Counter[int] = field(default_factory=Counter)
    met: Counter[Pair] = field(default_factory=Counter)
    again: frozenset[Pair] = frozenset()
    byes: Counter[int] = field(default_factory=Counter)
    shorts: Counter[int] = field(default_factory=Counter)
    seated: dict[int, list[int]] = field(default_factory=dict)
    soft: frozenset[Pair] = frozenset()
    hard: frozenset[Pair] = frozenset()

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.entered = list(range(1, self.players + 1))
        for kind in ("soft", "hard"):
            count = round(self.players * self.forbidden)
            chosen = (pair(*self.random.sample(self.entered, 2)) for _ in range(count))
            setattr(self, kind, frozenset(chosen))

    def situation(self) -> Situation:
        """Before the next round."""
        gone = {player for player in self.entered if self.random.random() < self.withdrawn}
        self.entered = [player for player in self.entered if player not in gone]
        newcomers = round(self.players * self.late)
        self.entered += range(self.players + 1, self.players + 1 + newcomers)
        self.players += newcomers
        there = [player for player in self.entered if self.random.random() >= self.absent]
        lots = {player: self.random.random() for player in there}
        standing = sorted(there, key=lambda player: (-self.points[player], lots[player]))
        return Situation(
            standing=tuple(standing),
            points=dict(self.points),
            met=dict(self.met),
            again=self.again,
            byes=dict(self.byes),
            shorts=dict(self.shorts),
            seated={player: tuple(counts) for player, counts in self.seated.items()},
            soft=self.soft,
            hard=self.hard,
        )

    def play(self, pairing: Pairing) -> None:
        """Each table is played; all results are as likely."""
        again = [pair(a, b) for table in pairing.tables for a, b in combinations(table, 2)]
        self.again = frozenset(again)
        self.met.update(again)
        for table in pairing.tables:
            for place, player in enumerate(self.random.sample(table, len(table))):
                self.points[player] += POINTS[place]
            for seat, player in enumerate(table):
                self.seated.setdefault(player, [0] * 6)[seat] += 1
            if len(table) != self.sizes[0]:
                self.shorts.update(table)
        self.byes.update(pairing.byes)
        self.points.update(dict.fromkeys(pairing.byes, BYE_POINTS))


def cut(order: Sequence[int], shape: Sequence[int], byes: int) -> Pairing:
    """Return the players in this order at tables of these sizes; the last have the bye."""
    tables, at = [], 0
    for size in shape:
        tables.append(tuple(order[at : at + size]))
        at += size
    return Pairing(tuple(tables), tuple(order[at : at + byes]))


def shapes(players: int, sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the sizes of the tables, in every way that has as few byes and short tables as can be."""
    byes, shorts = fewest(players, sizes)
    ways = [()] if shorts == 0 else list(_shorts(sizes[1:], shorts))
    found = []
    for way in ways:
        left = players - byes - sum(way)
        if left >= 0 and left % sizes[0] == 0:
            found.append((*[sizes[0]] * (left // sizes[0]), *way))
    return found


def _shorts(sizes: Sequence[int], count: int) -> list[tuple[int, ...]]:
    if count == 0:
        return [()]
    return [(size, *rest) for at, size in enumerate(sizes) for rest in _shorts(sizes[at:], count - 1)]


def at_random(event: Event, situation: Situation) -> Pairing:
    """Return a lawful pairing, if no players are forbidden to meet and none had a bye."""
    players = len(situation.standing)
    shape = event.random.choice(shapes(players, event.sizes))
    order = event.random.sample(situation.standing, players)
    return cut(order, shape, players - sum(shape))


def exchanged(pairing: Pairing, a: int, b: int) -> Pairing:
    """Return the pairing with these two in each other's place."""
    other = {a: b, b: a}
    tables, byes = (
        tuple(tuple(other.get(player, player) for player in group) for group in groups)
        for groups in (pairing.tables, (pairing.byes,))
    )
    return Pairing(tables, byes[0])
