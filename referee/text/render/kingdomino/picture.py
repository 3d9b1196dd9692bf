"""A kingdom as one self-contained SVG picture. Equal kingdoms give equal bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from referee.games.game import Cell
from referee.games.kingdomino import State
from referee.games.kingdomino.dominoes import DOMINOES, MOST_CROWNS, TERRAINS, Domino, DominoSet, Half
from referee.games.kingdomino.kingdom import Kingdom
from referee.text.render.kingdomino.board import Board, board
from referee.text.render.kingdomino.icons import definitions
from referee.text.render.svg import CELL, HEAD, INK, MARGIN, PALE, PAPER, cells_drawn, numbers, picture, shadow, words

_FOOT: Final = 66
_CHIP: Final = 78
"""Width of an item at the bottom."""
_SIDE: Final = 36
"""Side of the small landscapes in the legend."""
_MIN_WIDTH: Final = 7 * _CHIP + 40
"""What the line at the bottom needs."""


def svg(kingdom: Kingdom, domino_set: DominoSet, title: str = "Kingdomino", *, bonus: int = 0) -> str:
    """Draw the kingdom: dominoes, castle and a fixed frame's empty cells; below, points by terrain, and all points.

    ``bonus``: points of variants, which are not the kingdom's alone.
    """
    drawn = board(kingdom, domino_set)
    dominoes = [(domino_set.dominoes[number - 1], left, right) for number, left, right in sorted(kingdom.dominoes)]
    across, down = len(drawn.columns) * CELL, len(drawn.rows) * CELL
    width, height = max(across + 2 * MARGIN, _MIN_WIDTH), HEAD + down + 2 * MARGIN + _FOOT
    left, top = (width - across) // 2 - drawn.columns.start * CELL, HEAD + MARGIN - drawn.rows.start * CELL
    parts = [
        definitions(),
        f'<g transform="translate({left} {top})">',
        *numbers(drawn.columns, drawn.rows),
        *_frame(drawn),
        shadow([(0, 0), *sorted(drawn.halves)]),
        _castle(),
        *(_domino(*each) for each in dominoes),
        "</g>",
        *_foot(kingdom, bonus, width, height - _FOOT),
    ]
    return picture(title, _description(kingdom, dominoes, bonus), width, height, parts)


def seat_svg(state: State, seat: int, title: str) -> str:
    """Draw a seat's kingdom in a game."""
    kingdom = state.kingdoms[seat]
    return svg(kingdom, state.domino_set, title, bonus=state.score(seat) - kingdom.score())


def _description(kingdom: Kingdom, dominoes: Iterable[tuple[Domino, Cell, Cell]], bonus: int) -> str:
    """Describe the picture in words, for readers who cannot see it."""
    size = f"{kingdom.frame_size} by {kingdom.frame_size}"
    where = (
        "" if kingdom.castle is None else f", column {kingdom.castle[0]}, row {kingdom.castle[1]} of the {size} frame"
    )
    lying = "; ".join(f"{domino} at {left[0]},{left[1]} and {right[0]},{right[1]}" for domino, left, right in dominoes)
    points = f"{kingdom.score() + bonus}" + (f", {bonus} of them bonus" if bonus else "")
    return f"The castle at 0,0{where}. Dominoes: {lying or 'none'}. Points: {points}."


def _frame(drawn: Board) -> Iterable[str]:
    """Draw a fixed frame and its cells, most of which are hidden by what comes after."""
    if not drawn.fixed:
        return
    x, y = drawn.columns.start * CELL, drawn.rows.start * CELL
    across, down = len(drawn.columns) * CELL, len(drawn.rows) * CELL
    yield (
        f'<rect x="{x - 5}" y="{y - 5}" width="{across + 10}" height="{down + 10}" rx="14" fill="#efe3c8"'
        ' stroke="#8a6d45" stroke-width="4"/>'
    )
    for cell in drawn.empty():
        yield (
            f'<rect x="{cell[0] * CELL + 7}" y="{cell[1] * CELL + 7}" width="{CELL - 14}" height="{CELL - 14}" rx="9"'
            ' fill="none" stroke="#cdb88e" stroke-width="2" stroke-dasharray="7 6"/>'
        )


def _castle() -> str:
    return f"<g><title>castle at 0,0</title>{_drawn_castle()}</g>"


def _drawn_castle() -> str:
    return (
        f'<use href="#kdo-castle" width="{CELL}" height="{CELL}"/>'
        f'<rect x="2" y="2" width="{CELL - 4}" height="{CELL - 4}" rx="6" fill="none" stroke="{INK}"'
        ' stroke-width="3"/>'
    )


def pieces() -> tuple[str, ...]:
    """Return definitions for a page to draw boards with: ``kdo-piece-castle``, and ``kdo-piece-mine-2`` for a square
    with two crowns, each a cell of 100 by 100.
    """
    drawn = {"castle": _drawn_castle()} | {
        f"{TERRAINS[half.terrain]}-{half.crowns}": _half(half, 0, 0)
        for half in (Half(terrain, crowns) for terrain in range(len(TERRAINS)) for crowns in range(MOST_CROWNS + 1))
    }
    return definitions(), f"<defs>{cells_drawn('kdo-piece', drawn)}</defs>"


def _domino(domino: Domino, left: Cell, right: Cell) -> str:
    """Return both halves in one outline, each where it lies; the number on the left one."""
    x, y = min(left, right)
    shape = "across" if left[1] == right[1] else "down"
    across, down = (2, 1) if shape == "across" else (1, 2)
    return (
        f'<g transform="translate({x * CELL} {y * CELL})"><title>{domino} at {left[0]},{left[1]} and'
        f' {right[0]},{right[1]}</title><g clip-path="url(#kdo-{shape})">'
        + _half(domino.left, left[0] - x, left[1] - y)
        + _half(domino.right, right[0] - x, right[1] - y)
        + f'</g><rect x="2" y="2" width="{across * CELL - 4}" height="{down * CELL - 4}" rx="11" fill="none"'
        f' stroke="{INK}" stroke-width="3"/>'
        + _number(domino.number, (left[0] - x) * CELL, (left[1] - y) * CELL)
        + "</g>"
    )


def _number(number: int, x: int, y: int) -> str:
    return f'<rect x="{x + 69}" y="{y + 76}" width="24" height="17" rx="5" fill="{PAPER}" fill-opacity=".85"/>' + words(
        x + 81, y + 89, str(number), 13, bold=True
    )


def _half(half: Half, across: int, down: int) -> str:
    """Draw a landscape, and its crowns in a row."""
    x, y = across * CELL, down * CELL
    drawn = f'<use href="#kdo-{TERRAINS[half.terrain]}" x="{x}" y="{y}" width="{CELL}" height="{CELL}"/>'
    if half.crowns:
        drawn += (
            f'<rect x="{x + 6}" y="{y + 6}" width="{half.crowns * 26 + 6}" height="28" rx="7" fill="#2b2119"'
            ' fill-opacity=".72"/>'
        )
    return drawn + "".join(
        f'<use href="#kdo-crown" x="{x + 9 + i * 26}" y="{y + 8}" width="26" height="24"/>' for i in range(half.crowns)
    )


def _foot(kingdom: Kingdom, bonus: int, width: int, y: int) -> Iterable[str]:
    """Yield points by terrain, and what they make together."""
    points, squares = [0] * len(TERRAINS), [0] * len(TERRAINS)
    for area in kingdom.areas():
        points[area.terrain] += area.squares * area.crowns
        squares[area.terrain] += area.squares
    x = (width - _CHIP * (len(TERRAINS) + 1)) / 2
    for terrain, own, count in zip(TERRAINS, points, squares, strict=True):
        yield (
            f"<g><title>{terrain}: {count} {'square' if count == 1 else 'squares'}, {own} points</title>"
            f'<use href="#kdo-{terrain}" x="{x:g}" y="{y + 2}" width="{_SIDE}" height="{_SIDE}"/>'
            f'<rect x="{x:g}" y="{y + 2}" width="{_SIDE}" height="{_SIDE}" rx="5" fill="none" stroke="{INK}"/>'
            + words(x + 55, y + 27, str(own), 20, colour=INK if own else PALE)
            + "</g>"
        )
        x += _CHIP
    total = kingdom.score() + bonus
    told = f"points: {total}" + (f", {bonus} of them bonus" if bonus else "")
    yield (
        f'<g><title>{told}</title><use href="#kdo-crown" x="{x - 2:g}" y="{y + 2}" width="39" height="36"/>'
        + words(x + 59, y + 28, str(total), 24, bold=True)
        + (words(x + 59, y + 46, f"bonus {bonus}", 12) if bonus else "")
        + "</g>"
    )


def components() -> dict[str, Any]:
    """Return terrains, and each domino with its number and its halves, the left one first."""
    return {
        "terrains": TERRAINS,
        "dominoes": [
            {"number": domino.number, "halves": [_half_value(domino.left), _half_value(domino.right)]}
            for domino in DOMINOES
        ],
    }


def _half_value(half: Half) -> dict[str, Any]:
    return {"terrain": TERRAINS[half.terrain], "crowns": half.crowns}
