"""A knock-out round: the best meet the last."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.game import InputError


def knockout(standing: Sequence[int], size: int) -> tuple[tuple[int, ...], ...]:
    """Return the tables of the players, who stand best first: a snake, so 16 sit at 1 8 9 16, 2 7 10 15, … (EVT-K2).

    The players of a table are best first, too (EVT-O3). Raise ``InputError`` if they do not fill tables of that size.
    """
    count, left = divmod(len(standing), size)
    if left or not count:
        raise InputError("standing", f"{len(standing)} players", f"full tables of {size}")
    rows = [standing[at : at + count] for at in range(0, len(standing), count)]
    snake = [row if at % 2 == 0 else row[::-1] for at, row in enumerate(rows)]
    return tuple(zip(*snake, strict=True))
