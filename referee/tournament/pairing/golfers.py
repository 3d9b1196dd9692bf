"""Rounds in which few meet twice, by search: the social golfer problem, with short tables and byes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

from referee.tournament.pairing.draw import Words, below, same_words, shuffled

_TRIED: Final = 3_000_000
"""Exchanges that are weighed at most: some seconds."""
_STUCK: Final = 150
"""Exchanges made without a new best, after which all rounds are drawn again."""
_TENURE: Final = 3
"""Exchanges for which one just made is not made back; as many more by lot."""
_SEED: Final = 0
"""Any: what is found with it is what ``planned`` says that it finds."""
_REPEAT: Final = 1_000
"""What a repeat costs in exchanges of who sits at a short table again: more than there can be."""


class _Plan:
    """All rounds. Each is cut into the same groups: tables, and one for each bye."""

    def __init__(self, players: int, groups: Sequence[int], rounds: int, words: Words) -> None:
        self.players = players
        self.groups = groups
        full = max(groups, key=lambda size: (groups.count(size), size))
        self.is_odd = [size != full for size in groups]
        """Whether it is nobody's wish to be in the group again."""
        self.met = [[0] * players for _ in range(players)]
        self.odd = [0] * players
        self.rounds: list[list[list[int]]] = [[] for _ in range(rounds)]
        for at in range(rounds):
            self.draw(at, words)

    def draw(self, at: int, words: Words) -> None:
        """Seat a round by lot."""
        self._count(at, -1)
        order = iter(shuffled(words, range(self.players)))
        self.rounds[at] = [[next(order) for _ in range(size)] for size in self.groups]
        self._count(at, 1)

    def _count(self, at: int, times: int) -> None:
        for number, group in enumerate(self.rounds[at]):
            for a, b in combinations(group, 2):
                self.met[a][b] += times
                self.met[b][a] += times
            for player in group:
                self.odd[player] += times * self.is_odd[number]

    def cost(self) -> int:
        """Return what all rounds cost: pairs of meetings of the same two, then of odd groups of the same one."""
        pairs = sum(times * (times - 1) // 2 for a, row in enumerate(self.met) for times in row[:a])
        return _REPEAT * pairs + sum(times * (times - 1) // 2 for times in self.odd)

    def least(self) -> int:
        """Return the least that it can be: nobody meets twice, and who is in odd groups changes as evenly as can be."""
        places = len(self.rounds) * sum(size for size, odd in zip(self.groups, self.is_odd, strict=True) if odd)
        each, more = divmod(places, self.players)
        return self.players * (each * (each - 1) // 2) + more * each

    def gain(self, at: int, a: int, p: int, b: int, q: int) -> int:
        """Return what it adds to the cost to exchange ``p`` of group ``a`` with ``q`` of group ``b`` in this round."""
        of_p, of_q = self.met[p], self.met[q]
        change = 0
        for other in self.rounds[at][a]:
            if other != p:
                change += of_q[other] - of_p[other] + 1
        for other in self.rounds[at][b]:
            if other != q:
                change += of_p[other] - of_q[other] + 1
        change *= _REPEAT
        if self.is_odd[a] != self.is_odd[b]:
            into, out = (p, q) if self.is_odd[b] else (q, p)
            change += self.odd[into] - self.odd[out] + 1
        return change

    def exchange(self, at: int, a: int, p: int, b: int, q: int) -> None:
        """Make it."""
        self._count(at, -1)
        groups = self.rounds[at]
        groups[a][groups[a].index(p)] = q
        groups[b][groups[b].index(q)] = p
        self._count(at, 1)

    def moving(self, at: int) -> list[tuple[int, int]]:
        """Return the players, with their groups, of whom something in this round is not as it could be."""
        fair = -(-sum(self.odd) // self.players)
        return [
            (number, player)
            for number, group in enumerate(self.rounds[at])
            for player in group
            if any(self.met[player][other] > 1 for other in group) or (self.is_odd[number] and self.odd[player] > fair)
        ]


def golfers(players: int, groups: Sequence[int], rounds: int) -> list[list[list[int]]]:
    """Return rounds of players 0, 1, … in groups of these sizes, the best that a tabu search comes across.

    A group of one is a bye. The search has always the same numbers, so that what it finds is known: whoever wants a
    draw shuffles the players.
    """
    words = same_words(_SEED)
    plan = _Plan(players, groups, rounds, words)
    cost, least = plan.cost(), plan.least()
    best, found = cost, [[list(group) for group in groups_] for groups_ in plan.rounds]
    forbidden: dict[tuple[int, int, int], int] = {}
    tried = made = since = 0
    while best > least and tried < _TRIED:
        made, since = made + 1, since + 1
        at = below(words, rounds)
        moving = plan.moving(at)
        tried += 1 + len(moving) * players
        choice = None
        for a, p in moving:
            for b, group in enumerate(plan.rounds[at]):
                if b == a:
                    continue
                for q in group:
                    gain = plan.gain(at, a, p, b, q)
                    if forbidden.get((at, min(p, q), max(p, q)), 0) > made and cost + gain >= best:
                        continue
                    # Of equals any, by a lot that is no draw: it decides nothing but where the search goes next.
                    key = (gain, (p * 7919 + q * 104_729 + made * 1_299_709) % 1009)
                    if choice is None or key < choice[0]:
                        choice = key, a, p, b, q
        if choice is not None:
            (gain, _), a, p, b, q = choice
            plan.exchange(at, a, p, b, q)
            cost += gain
            forbidden[at, min(p, q), max(p, q)] = made + _TENURE + below(words, _TENURE)
        if cost < best:
            best, since = cost, 0
            found = [[list(group) for group in groups_] for groups_ in plan.rounds]
        elif since > _STUCK:
            if best < _REPEAT:
                break
            for again in range(rounds):
                plan.draw(again, words)
            cost, since = plan.cost(), 0
    return found
