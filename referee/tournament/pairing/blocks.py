"""The standing, cut into blocks of the sizes of tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product


def shape(players: int, sizes: Sequence[int]) -> tuple[int, int]:
    """Return how many have the bye and how many tables are short, both as few as can be; byes count first."""
    shorts: list[int | None] = [0]
    for total in range(1, players + 1):
        ways = [(size != sizes[0], shorts[total - size]) for size in sizes if size <= total]
        shorts.append(min((short + before for short, before in ways if before is not None), default=None))
    for byes in range(players + 1):
        if (fewest := shorts[players - byes]) is not None:
            return byes, fewest
    raise AssertionError("nobody at a table is a way")


def blocks(
    players: Sequence[int], sizes: Sequence[int], shorts: int, cost: Callable[[Sequence[int], bool], int]
) -> tuple[int, list[Sequence[int]]]:
    """Return the least that blocks of the players can cost together, and the blocks.

    So many of them are short; ``cost`` is that of one block, told whether it is short. There must be a way.
    """
    # best[k][n]: the least cost of the first n players at k short tables, and the size of the last.
    best: list[list[tuple[int, int] | None]] = [[None] * (len(players) + 1) for _ in range(shorts + 1)]
    best[0][0] = 0, 0
    for n, size in product(range(1, len(players) + 1), sizes):
        short = size != sizes[0]
        if size > n:
            continue
        before = [row[n - size] for row in best[: shorts + 1 - short]]
        if not any(before):
            continue
        last = cost(players[n - size : n], short)
        for k, way in enumerate(before, start=short):
            if way and ((now := best[k][n]) is None or way[0] + last < now[0]):
                best[k][n] = way[0] + last, size
    k, n, cuts = shorts, len(players), []
    least = best[k][n]
    while n:
        way = best[k][n]
        if way is None:
            raise AssertionError("so many short tables are no way")
        cuts.append(players[n - way[1] : n])
        n, k = n - way[1], k - (way[1] != sizes[0])
    return (least[0] if least else 0), cuts[::-1]
