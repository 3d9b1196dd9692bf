"""Kingdomino on paper: a kingdom as text in boxes or as SVG, a position as text, a claim's kingdom. Judges nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from referee.games.game import Cell
from referee.games.kingdomino import State
from referee.games.kingdomino.dominoes import (
    DOMINOES,
    MOST_CROWNS,
    TERRAINS,
    UNKNOWN,
    Domino,
    DominoSet,
    Half,
    domino_set,
)
from referee.games.kingdomino.kingdom import CASTLE, Kingdom
from referee.text.render.drawing import (
    CELL,
    HEAD,
    INK,
    MARGIN,
    PALE,
    PAPER,
    awaited,
    cells_drawn,
    listed,
    numbers,
    picture,
    player_words,
    shadow,
    widened,
    with_mark,
    words,
    wrapped,
)
from referee.wire.certificates.kingdomino.claims import Claim, Frame, Placed, PlacementClaim


@dataclass(frozen=True, slots=True)
class Board:
    """``halves`` and ``numbers``: the half on each cell, and its domino's number; neither has the castle's."""

    halves: dict[Cell, Half]
    numbers: dict[Cell, int]
    columns: range
    rows: range
    """A fixed frame, or the least rectangle around what was laid."""
    fixed: bool

    def empty(self) -> list[Cell]:
        """Return cells of a fixed frame that nothing lies on, by column, then row."""
        if not self.fixed:
            return []
        return [(x, y) for x in self.columns for y in self.rows if (x, y) != (0, 0) and (x, y) not in self.halves]


def laid_out(kingdom: Kingdom, domino_set: DominoSet) -> Board:
    """Return the kingdom cell by cell."""
    halves: dict[Cell, Half] = {}
    numbers: dict[Cell, int] = {}
    for number, left, right in kingdom.dominoes:
        domino = domino_set.dominoes[number - 1]
        halves |= {left: domino.left, right: domino.right}
        numbers |= {left: number, right: number}
    if kingdom.castle is not None:
        column, row = kingdom.castle
        columns, rows = range(-column, kingdom.frame_size - column), range(-row, kingdom.frame_size - row)
    else:
        xs, ys = [0, *(x for x, _ in halves)], [0, *(y for _, y in halves)]
        columns, rows = range(min(xs), max(xs) + 1), range(min(ys), max(ys) + 1)
    return Board(halves, numbers, columns, rows, kingdom.castle is not None)


_WIDTH: Final = 8
"""Characters of a cell."""
_LABEL: Final = 4
"""Characters of a row's number."""

# By the arms up, right, down, left, as digits of a number to the base 2.
_CORNERS: Final = " ╴╷┐╶─┌┬╵┘│┤└┴├┼"
_CROWN: Final = "♛"
_EMPTY: Final = "·"

_ASCII: Final = str.maketrans({**dict.fromkeys(_CORNERS[1:], "+"), "─": "-", "│": "|", _CROWN: "*", _EMPTY: "."})


def text(kingdom: Kingdom, domino_set: DominoSet, *, marked: Collection[Cell] = (), ascii_only: bool = False) -> str:
    """Draw the kingdom in boxes, terrain above crowns; a fixed frame with its empty cells. Ends in a newline.

    Seven columns of cells fit into 79 characters. Columns are numbered above, rows on the left. ``marked``: cells to be
    marked with !, also some that are outside of the kingdom, but not of a fixed frame.
    """
    drawn = laid_out(kingdom, domino_set)
    if not drawn.fixed:
        columns, rows = widened(drawn.columns, drawn.rows, marked)
        drawn = replace(drawn, columns=columns, rows=rows)
    lines = [" " * (_LABEL + 1) + "".join(f"{x:^{_WIDTH}} " for x in drawn.columns)]
    for y in range(drawn.rows.start, drawn.rows.stop + 1):
        lines.append(" " * _LABEL + _border(drawn, y))
        if y in drawn.rows:
            lines += [f"{y:>{_LABEL - 1}} " + _row(drawn, y, 0, ()), " " * _LABEL + _row(drawn, y, 1, marked)]
    whole = "\n".join(line.rstrip() for line in lines) + "\n"
    return whole.translate(_ASCII) if ascii_only else whole


def _line(drawn: Board, one: Cell, other: Cell) -> bool:
    """Return whether there is a line between the neighbours: none inside a domino, none between empty cells."""
    inside = [drawn.fixed and x in drawn.columns and y in drawn.rows for x, y in (one, other)]
    if one in drawn.numbers or other in drawn.numbers:
        return drawn.numbers.get(one) != drawn.numbers.get(other)
    return CASTLE in (one, other) or inside[0] != inside[1]


def _border(drawn: Board, y: int) -> str:
    """Return the line above row ``y``."""
    shown = ""
    for x in range(drawn.columns.start, drawn.columns.stop + 1):
        up, down = _line(drawn, (x - 1, y - 1), (x, y - 1)), _line(drawn, (x - 1, y), (x, y))
        left, right = _line(drawn, (x - 1, y - 1), (x - 1, y)), _line(drawn, (x, y - 1), (x, y))
        shown += _CORNERS[up * 8 + right * 4 + down * 2 + left] + ("─" if right else " ") * _WIDTH
    return shown


def _row(drawn: Board, y: int, inside: int, marked: Collection[Cell]) -> str:
    """Return one of the two lines through the cells of row ``y``, with marks in it."""
    shown = ""
    for x in range(drawn.columns.start, drawn.columns.stop + 1):
        content = _content(drawn, (x, y))[inside]
        shown += "│" if _line(drawn, (x - 1, y), (x, y)) else " "
        shown += f"{with_mark(content) if (x, y) in marked and x in drawn.columns else content:^{_WIDTH}}"
    return shown


def _content(drawn: Board, cell: Cell) -> tuple[str, str]:
    if cell == CASTLE:
        return "castle", ""
    if (half := drawn.halves.get(cell)) is not None:
        return TERRAINS[half.terrain], _CROWN * half.crowns
    inside = drawn.fixed and cell[0] in drawn.columns and cell[1] in drawn.rows
    return (_EMPTY, "") if inside else ("", "")


def position_text(
    state: State,
    seats: Sequence[int] | None = None,
    *,
    names: Sequence[str] = (),
    awaits: bool = True,
    marked: Collection[Cell] = (),
    ascii_only: bool = False,
) -> str:
    """Write the whole position, or with ``seats`` the offer and these seats only; ends in a newline."""
    first = [awaited(state.pending()[0])] if awaits else []
    lines = [*wrapped([*first, *_table(state)]), "", *_seats(state, seats, names, marked, ascii_only)]
    return "\n".join(lines)


def boards_text(state: State, seats: Sequence[int] | None = None, *, ascii_only: bool = False) -> str:
    """Write the kingdoms of these seats; ends in a newline."""
    return "\n".join(_seats(state, seats, (), (), ascii_only))


def _seats(
    state: State, seats: Sequence[int] | None, names: Sequence[str], marked: Collection[Cell], ascii_only: bool
) -> Iterable[str]:
    for seat in range(state.seats) if seats is None else seats:
        yield from wrapped(_seat(state, seat, names))
        yield ""
        yield text(state.kingdoms[seat], state.domino_set, marked=marked, ascii_only=ascii_only)
        marked = ()


def _table(state: State) -> Iterable[str]:
    dominoes = state.domino_set.dominoes
    yield f"lines drawn: {state.lines} of {state.lines_in_all}; dominoes to come: {state.undrawn()}"
    if state.order and state.lines <= 1:
        yield f"first order: {listed(map(str, state.order))}"
    for number, seat in state.kings:
        yield f"to be placed: {dominoes[number - 1]}, {player_words(seat)}"
    for number in state.offer:
        seat_on_it = state.claims.get(number)
        yield f"line: {dominoes[number - 1]}, {'free' if seat_on_it is None else player_words(seat_on_it)}"
    if state.removed:
        yield f"left over and removed: {listed(map(str, state.removed))}"


def _seat(state: State, seat: int, names: Sequence[str]) -> Iterable[str]:
    kingdom = state.kingdoms[seat]
    bonus = state.score(seat) - kingdom.score()
    points = f"{state.score(seat)} points" + (f", {bonus} of them bonus" if bonus else "")
    yield f"{player_words(seat, names)}: {points}; largest area {kingdom.largest_area()}; crowns {kingdom.crowns()}"
    if kingdom.castle is not None:
        yield f"  castle in column {kingdom.castle[0]}, row {kingdom.castle[1]} of the frame"
    if named := [number for number in state.discarded[seat] if number != UNKNOWN]:
        yield f"  discarded: {listed(map(str, named))}"


def pictures(about: Claim, *, ascii_only: bool = False) -> list[str]:
    """Return the kingdom, with the placement where its cells are free and near. Ends in a newline."""
    kingdom = about.kingdom
    shown = kingdom.dominoes
    if isinstance(about, PlacementClaim):
        cells = (about.placed.left, about.placed.right)
        is_near = all(abs(at) <= kingdom.frame.size for cell in cells for at in cell)
        if is_near and cells[0] != cells[1] and not {CASTLE, *kingdom.squares()} & {*cells}:
            shown = (*shown, about.placed)
    return [claim_picture(kingdom.frame, shown, ascii_only=ascii_only)]


def claim_picture(frame: Frame, dominoes: Iterable[Placed], *, ascii_only: bool = False) -> str:
    """Draw a kingdom in boxes."""
    halves = {placed.domino.number: placed.domino for placed in dominoes}
    known = domino_set(tuple(halves.get(domino.number, domino) for domino in DOMINOES))
    return text(claimed(frame, dominoes), known, ascii_only=ascii_only)


def claimed(frame: Frame, dominoes: Iterable[Placed]) -> Kingdom:
    """Return the engine's kingdom, for pictures."""
    found = Kingdom(frame.size, frame.castle)
    for placed in dominoes:
        found = found.placed(placed.domino, placed.left, placed.right)
    return found


_WHEAT: Final = """\
<rect width="100" height="100" fill="url(#kdo-ground-wheat)"/>
<path d="M0 30q25-9 50 0t50 0M0 62q25-9 50 0t50 0M0 94q25-9 50 0t50 0" fill="none" stroke="#c98f1c" \
stroke-width="3" stroke-opacity=".55"/>
<g id="kdo-ear"><path d="M24 88V52" stroke="#9a6a10" stroke-width="2.5"/>\
<path d="M24 56c-7-3-9-8-8-12 5 1 8 5 8 12zM24 56c7-3 9-8 8-12-5 1-8 5-8 12zM24 46c-7-3-9-8-8-12 5 1 8 5 8 12z\
M24 46c7-3 9-8 8-12-5 1-8 5-8 12zM24 37c-4-4-4-10 0-15 4 5 4 11 0 15z" fill="#fff0a8" stroke="#a8740f" \
stroke-width="1.2"/></g>
<use href="#kdo-ear" x="26" y="6"/><use href="#kdo-ear" x="52"/>"""

_FOREST: Final = """\
<rect width="100" height="100" fill="url(#kdo-ground-forest)"/>
<g id="kdo-fir"><path d="M26 80v10" stroke="#4a2f17" stroke-width="5"/>\
<path d="M26 26l11 20h-5l9 17h-6l10 19H7l10-19h-6l9-17h-5z" fill="#1b5230"/>\
<path d="M26 26v56H7l10-19h-6l9-17h-5z" fill="#2f7a44"/></g>
<use href="#kdo-fir" x="46" y="-8"/><use href="#kdo-fir" x="22" y="6"/>"""

_LAKE: Final = """\
<rect width="100" height="100" fill="url(#kdo-ground-lake)"/>
<path d="M6 34q8-8 16 0t16 0 16 0M46 52q8-8 16 0t16 0 16 0M8 72q8-8 16 0t16 0 16 0M54 86q8-8 16 0t16 0" fill="none" \
stroke="#dff3ff" stroke-width="3.5" stroke-linecap="round" stroke-opacity=".85"/>
<path d="M58 37h30l-6 9H64z" fill="#7a4a22"/><path d="M74 35V14l12 19zM71 35V19l-9 14z" fill="#fffaf0"/>"""

_MEADOW: Final = """\
<rect width="100" height="100" fill="url(#kdo-ground-meadow)"/>
<path d="M12 42q1-8-3-12 6 3 6 12 0-8 5-11-3 5-2 11zM68 32q1-8-3-12 6 3 6 12 0-8 5-11-3 5-2 11zM76 88q1-8-3-12 6 3 \
6 12 0-8 5-11-3 5-2 11zM12 84q1-8-3-12 6 3 6 12 0-8 5-11-3 5-2 11z" fill="#4f8a2a"/>
<path d="M36 62v13M44 63v13M58 63v13M65 62v13" stroke="#3a332c" stroke-width="3.5" stroke-linecap="round"/>
<path d="M32 62c-6-2-6-11 0-13 0-7 9-10 13-5 4-6 13-5 15 0 7-2 12 4 9 10 4 5 0 11-6 10-3 5-11 5-14 1-4 4-12 3-17-3z" \
fill="#fffdf6" stroke="#8d877a" stroke-width="1.5"/>
<path d="M67 46c6-4 13-1 13 4s-4 9-9 8-7-8-4-12z" fill="#3a332c"/>"""

_SWAMP: Final = """\
<rect width="100" height="100" fill="url(#kdo-ground-swamp)"/>
<ellipse cx="40" cy="78" rx="30" ry="9" fill="#4c5340"/><ellipse cx="68" cy="52" rx="24" ry="7" fill="#4c5340"/>
<path d="M28 79q8-4 16 0M58 53q8-4 16 0" fill="none" stroke="#a9b59a" stroke-width="2"/>
<path d="M22 76V40M30 78V50M78 50V22M86 52V32" stroke="#3c4a22" stroke-width="3"/>
<path d="M22 44V28M30 54V40M78 28V12M86 37V23" stroke="#5b3417" stroke-width="7" stroke-linecap="round"/>
<path d="M34 76q8-18 18-22-6 10-14 22zM74 50q-8-16-18-20 8 6 14 20z" fill="#5f7a35"/>"""

_MINE: Final = """\
<rect width="100" height="100" fill="url(#kdo-ground-mine)"/>
<path d="M4 92L24 48l12 8 16-32 20 26 10-6 16 48z" fill="#2f2723"/>
<path d="M52 24l20 26-14 8zM24 48l12 8-8 12z" fill="#6a5a50"/>
<path d="M42 92V76c0-14 20-14 20 0v16z" fill="#0f0b09"/><path d="M42 92V76c0-14 20-14 20 0v16" fill="none" \
stroke="#8a5a2c" stroke-width="4"/>
<g fill="#f6c945" stroke="#9b6a0a" stroke-width="1"><path d="M20 78l6-4 5 5-3 6h-7zM72 72l5-5 6 3-1 7-8 1z\
M76 88l4-3 5 3-2 4h-6z"/></g>"""

_CASTLE: Final = """\
<rect width="100" height="100" fill="#e9dcc0"/>
<path d="M18 88V44h-5V30h8v6h7v-6h8v6h5V24h-5V10h6v6h5v-6h6v6h5v-6h6v14h-5v12h5v-6h8v6h7v-6h8v14h-5v44z" \
fill="#8c8378" stroke="#4a433c" stroke-width="2" stroke-linejoin="round"/>
<path d="M41 36h18v52H41z" fill="#a59c90"/><path d="M43 88V70c0-10 14-10 14 0v18z" fill="#3a2a1c"/>
<path d="M47 44h6v11h-6zM26 54h5v10h-5zM69 54h5v10h-5z" fill="#3a2f26"/>
<path d="M50 10V-2l15 5-15 5" fill="#b3282d" stroke="#6e1512" stroke-width="1" transform="translate(0 4)"/>
<path d="M10 88h80v5H10z" fill="#6b6258"/>"""

_CROWN_ICON: Final = """\
<path d="M3 21L1 6l7 6 5-10 5 10 7-6-2 15z" fill="#ffd54a" stroke="#6b4405" stroke-width="1.6" \
stroke-linejoin="round"/><path d="M4 18h18" stroke="#b5790a" stroke-width="1.6"/>\
<circle cx="13" cy="14.5" r="2" fill="#c0392b"/>"""

GROUNDS: Final = {
    "wheat": ("#f8dd74", "#e8b93a"),
    "forest": ("#5fa463", "#2f6d3c"),
    "lake": ("#7cc3ea", "#2c7fc0"),
    "meadow": ("#c9e58a", "#93c452"),
    "swamp": ("#a79f78", "#6f6b4b"),
    "mine": ("#8b7567", "#54453b"),
}
"""Colours of each terrain, from top to bottom."""

_DRAWINGS: Final = {
    **dict(zip(GROUNDS, (_WHEAT, _FOREST, _LAKE, _MEADOW, _SWAMP, _MINE), strict=True)),
    "castle": _CASTLE,
}


def definitions() -> str:
    """Return definitions: each terrain's ``kdo-wheat``, ``kdo-castle``, ``kdo-crown``, and the shapes of dominoes."""
    grounds = "".join(
        f'<linearGradient id="kdo-ground-{terrain}" x1="0" y1="0" x2="0" y2="1">'
        f'<stop stop-color="{light}"/><stop offset="1" stop-color="{deep}"/></linearGradient>\n'
        for terrain, (light, deep) in GROUNDS.items()
    )
    symbols = "".join(
        f'<symbol id="kdo-{name}" viewBox="0 0 100 100">{drawing}</symbol>\n' for name, drawing in _DRAWINGS.items()
    )
    crown = f'<symbol id="kdo-crown" viewBox="0 0 26 24">{_CROWN_ICON}</symbol>\n'
    shapes = "".join(
        f'<clipPath id="kdo-{shape}"><rect x="2" y="2" width="{width}" height="{height}" rx="11"/></clipPath>\n'
        for shape, width, height in (("across", 196, 96), ("down", 96, 196))
    )
    return f"<defs>\n{grounds}{symbols}{crown}{shapes}</defs>"


_FOOT: Final = 66
_CHIP: Final = 78
"""Width of an item at the bottom."""
_SIDE: Final = 36
"""Side of the small landscapes in the legend."""
_MIN_WIDTH: Final = 7 * _CHIP + 40
"""The width of the line at the bottom."""


def svg(kingdom: Kingdom, domino_set: DominoSet, title: str = "Kingdomino", *, bonus: int = 0) -> str:
    """Draw the kingdom: dominoes, castle and a fixed frame's empty cells; below, points by terrain, and all points.

    ``bonus``: points of variants, which are not the kingdom's alone.
    """
    drawn = laid_out(kingdom, domino_set)
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
    """Draw a fixed frame and its cells, most of which the next parts hide."""
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
    """Yield points by terrain, and their sum."""
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
