"""Points that may be expected of places by majority, which both Alhambra games award."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def expected_points(
    places: Sequence[int], own: Iterable[tuple[int, float]], others: Iterable[tuple[int, Sequence[float]]]
) -> float:
    """Return the points a player may expect; tied players take the next places together and share their points, rounded
    down.

    ``places``: points of the first place, the second, … ``own``: counts that the player may end with, and how likely
    each is. ``others``: of each other player what it has now, and how likely it is to get 0, 1, … more.
    """
    others = tuple(others)
    points = 0.0
    for count, chance in own:
        if not count or not chance:
            continue
        # How many are ahead of this count and how many are level with it, player by player.
        odds = {(0, 0): chance}
        for other, distribution in others:
            level = distribution[count - other] if 0 <= count - other < len(distribution) else 0.0
            ahead = sum(distribution[max(0, count - other + 1) :])
            following: dict[tuple[int, int], float] = {}
            for (above, tied), p in odds.items():
                for key, q in (
                    ((above + 1, tied), ahead),
                    ((above, tied + 1), level),
                    ((above, tied), 1 - ahead - level),
                ):
                    if q > 0 and key[0] < len(places):
                        following[key] = following.get(key, 0.0) + p * q
            odds = following
        points += sum(p * (sum(places[above : above + tied + 1]) // (tied + 1)) for (above, tied), p in odds.items())
    return points
