"""Marks in boards of text, and words about seats and the awaited act, for every game's text. Knows no game."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import TextWrapper
from typing import Final

from referee.games.game import Cell, Chance, Decision, Forced, Over, Pending

_REACH: Final = 2
"""Cells that a drawing grows on each side to show what is marked there: a domino's length."""


def widened(columns: range, rows: range, marked: Iterable[Cell]) -> tuple[range, range]:
    """Return the columns and rows that are drawn if these cells are marked: those far outside are left out."""
    near = [(x, y) for x, y in marked if _is_near(columns, x) and _is_near(rows, y)]
    return _around(columns, [x for x, _ in near]), _around(rows, [y for _, y in near])


def with_mark(content: str) -> str:
    """Return what is in a cell, marked: without colour, so that every terminal shows it."""
    return f"!{content.strip()}!"


def _is_near(drawn: range, at: int) -> bool:
    return drawn.start - _REACH <= at < drawn.stop + _REACH


def _around(drawn: range, marked: list[int]) -> range:
    return range(min([drawn.start, *marked]), max([drawn.stop, *(at + 1 for at in marked)]))


_WRAPPER: Final = TextWrapper(79, subsequent_indent="    ", break_on_hyphens=False)


def awaited(pending: Pending) -> str:
    """Return the words for the awaited act: ``seat 0 to move: take money``, ``awaiting chance: hand``, ``over (rules):
    …``.

    The worth of a position is that of its moves alone: forfeits, penalties and rulings are no part of it.
    """
    match pending:
        case Decision(seat, kinds):
            return f"seat {seat} to move: {', '.join(kind.replace('_', ' ') for kind in kinds)}"
        case Chance(kind):
            return f"awaiting chance: {kind.replace('_', ' ')}"
        case Forced(seat):
            return f"seat {seat} has no legal action"
        case Over(ending, scores):
            first, *others = (f"seat {seat} {score}" for seat, score in enumerate(scores))
            return f"over ({ending.words}), by the moves alone: {', '.join([f'{first} points', *others])}"


def seat_words(seat: int, names: Sequence[str]) -> str:
    """Return ``seat 1``, or ``seat 1, Blue``. ``names``: by seat, empty for none."""
    return f"seat {seat}, {names[seat]}" if names[seat : seat + 1] and names[seat] else f"seat {seat}"


def wrapped(lines: Iterable[str]) -> Iterable[str]:
    """Yield lines that a terminal holds; a line that is too long continues indented."""
    return (short for line in lines for short in _WRAPPER.wrap(line))


def listed(names: Iterable[str]) -> str:
    """Return the names with spaces between them; a dash for none."""
    return " ".join(names) or "-"
