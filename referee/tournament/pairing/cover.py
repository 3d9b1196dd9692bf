"""A round in which nobody meets whom they should not, found by backtracking: whatever the points."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

TRIED: Final = 20_000
"""Tables that are tried at most: some tenths of a second. Most rounds that exist need fewer than a hundred."""


def cover(players: Sequence[int], clashes: Sequence[Collection[int]], sizes: Sequence[int]) -> list[list[int]] | None:
    """Return tables of these sizes for all players, none of whom clash; None if there are none, or none was found.

    ``clashes``: by player, who must not be at the same table. Who is left with the fewest to meet is seated first, with
    those who are near.
    """
    seatings = _Seatings(players, clashes)
    return seatings.found if seatings.seat(frozenset(players), tuple(sorted(sizes, reverse=True))) else None


class _Seatings:
    def __init__(self, players: Sequence[int], clashes: Sequence[Collection[int]]) -> None:
        self._meets = {player: frozenset(players) - {player} - frozenset(clashes[player]) for player in players}
        self._tried = 0
        self.found: list[list[int]] = []

    def seat(self, free: frozenset[int], sizes: tuple[int, ...]) -> bool:
        """Return whether those who are free can be seated; if so, they are."""
        if not free:
            return True
        left, first = min((len(self._meets[player] & free), player) for player in free)
        if left < sizes[-1] - 1:
            return False
        for size in sorted(set(sizes), reverse=True):
            at = sizes.index(size)
            near = sorted(self._meets[first] & free, key=lambda other: (abs(other - first), other))
            for others in self._together(near, size - 1):
                self._tried += 1
                if self._tried > TRIED:
                    return False
                table = [first, *others]
                self.found.append(table)
                if self.seat(free.difference(table), sizes[:at] + sizes[at + 1 :]):
                    return True
                self.found.pop()
        return False

    def _together(self, players: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
        """Yield so many of the players who can all meet, near ones first."""
        if not count:
            yield ()
            return
        for at, player in enumerate(players):
            can = self._meets[player]
            for others in self._together([other for other in players[at + 1 :] if other in can], count - 1):
                yield (player, *others)
