"""Alhambra on paper: a layout as text in boxes or as SVG, a position as text, a claim's layouts. Judges nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from referee.games.alhambra import State
from referee.games.alhambra.layout import Layout
from referee.games.alhambra.money import CURRENCIES, KINDS, card_name, total
from referee.games.alhambra.outline import Side, longest_wall
from referee.games.alhambra.position import FREE, Phase
from referee.games.alhambra.tiles import TYPES, E, N, S, TileSet, W, tile_set, tiles_of
from referee.games.game import Cell
from referee.text.render.drawing import (
    CELL,
    COLOURS,
    HEAD,
    INK,
    MARGIN,
    PALE,
    awaited,
    cells_drawn,
    definitions,
    listed,
    numbers,
    picture,
    player_words,
    shadow,
    symbol,
    widened,
    with_mark,
    words,
    wrapped,
)
from referee.wire.certificates.alhambra import claims

_WIDTH: Final = 5
"""Characters inside a box."""
_LABEL: Final = 4
"""Characters of a row's number."""

# By weight (none, light, heavy) of the arms up, right, down, left, as digits of a number to the base 3.
_CORNERS: Final = " ╴╸╷┐┑╻┒┓╶─╾┌┬┭┎┰┱╺╼━┍┮┯┏┲┳╵┘┙│┤┥╽┧┪└┴┵├┼┽┟╁╅┕┶┷┝┾┿┢╆╈╹┚┛╿┦┩┃┨┫┖┸┹┞╀╃┠╂╉┗┺┻┡╄╇┣╊╋"
_ACROSS: Final = " ─━"
_DOWN: Final = " │┃"

_ASCII: Final = str.maketrans(
    {
        **{
            corner: "#" if i and all(weight != 1 for weight in (i // 27, i // 9 % 3, i // 3 % 3, i % 3)) else "+"
            for i, corner in enumerate(_CORNERS)
            if i
        },
        **dict(zip(_ACROSS + _DOWN, " -= |#", strict=True)),
        "≈": "~",
    }
)

ABBREVIATIONS: Final = tuple(type_[:3] for type_ in TYPES)


def text(layout: Layout, *, marked: Collection[Cell] = (), ascii_only: bool = False) -> str:
    """Draw the layout as boxes with type and cost, thick sides where walls are, ``fount`` the fountain; ends in a
    newline.

    Up to 12 columns of cells fit into 80 characters. Columns are numbered above, rows on the left. ``marked``: cells to
    be marked with !, also some that are outside of the Alhambra.
    """
    cells = layout.cells()
    occupied = {(0, 0), *cells}
    xs, ys = [x for x, _ in occupied], [y for _, y in occupied]
    columns, rows = widened(range(min(xs), max(xs) + 1), range(min(ys), max(ys) + 1), marked)
    grid = _Grid(layout, occupied, marked)
    lines = [" " * (_LABEL + 1) + "".join(f"{x:^{_WIDTH}} " for x in columns)]
    edges = range(columns.start, columns.stop + 1)
    for y in rows:
        lines.append(" " * _LABEL + grid.border(edges, y))
        for inside in range(2):
            label = f"{y:>{_LABEL - 1}} " if inside == 0 else " " * _LABEL
            lines.append(label + grid.row(edges, y, inside))
    lines.append(" " * _LABEL + grid.border(edges, rows.stop))
    drawn = "\n".join(line.rstrip() for line in lines) + "\n"
    return drawn.translate(_ASCII) if ascii_only else drawn


class _Grid:
    """The lines between cells: 0 none, 1 an open side, 2 a wall."""

    def __init__(self, layout: Layout, occupied: set[Cell], marked: Collection[Cell]) -> None:
        self._layout = layout
        self._occupied = occupied
        cells = layout.cells()
        self._walls = {cell: layout.tile_set.walls[cells[cell]] if cell in cells else 0 for cell in occupied}
        self._contents = {
            cell: (
                f"{ABBREVIATIONS[layout.tile_set.types[tile]]:^{_WIDTH}}",
                f"{layout.tile_set.costs[tile]:^{_WIDTH}}",
            )
            for cell, tile in cells.items()
        }
        self._contents[0, 0] = ("fount", f"{'≈≈≈':^{_WIDTH}}")
        for cell in marked:
            above, below = self._contents.get(cell, (" " * _WIDTH,) * 2)
            self._contents[cell] = above, f"{with_mark(below):^{_WIDTH}}"

    def _weight(self, one: Cell, side: int, other: Cell, opposite: int) -> int:
        if one not in self._occupied and other not in self._occupied:
            return 0
        return 2 if self._walls.get(one, 0) & side or self._walls.get(other, 0) & opposite else 1

    def _north_of(self, x: int, y: int) -> int:
        return self._weight((x, y), N, (x, y - 1), S)

    def _west_of(self, x: int, y: int) -> int:
        return self._weight((x, y), W, (x - 1, y), E)

    def border(self, columns: range, y: int) -> str:
        """Return the line above row ``y``."""
        drawn = ""
        for x in columns:
            up, right = self._west_of(x, y - 1), self._north_of(x, y)
            down, left = self._west_of(x, y), self._north_of(x - 1, y)
            drawn += _CORNERS[up * 27 + right * 9 + down * 3 + left] + _ACROSS[right] * _WIDTH
        return drawn

    def row(self, columns: range, y: int, inside: int) -> str:
        """Return one of the two lines through the cells of row ``y``."""
        return "".join(
            _DOWN[self._west_of(x, y)] + self._contents.get((x, y), (" " * _WIDTH,) * 2)[inside] for x in columns
        )


def position_text(
    state: State,
    seats: Sequence[int] | None = None,
    *,
    names: Sequence[str] = (),
    awaits: bool = True,
    marked: Collection[Cell] = (),
    ascii_only: bool = False,
) -> str:
    """Write the whole position, or with ``seats`` the market and these seats only; ends in a newline."""
    first = [awaited(state.pending()[0])] if awaits else []
    lines = [*wrapped([*first, *_table(state)]), ""]
    for seat in range(state.seats) if seats is None else seats:
        drawn = text(state.layouts[seat], marked=marked, ascii_only=ascii_only)
        lines += [*wrapped(_seat(state, seat, names)), "", drawn]
        marked = ()
    return "\n".join(lines)


def boards_text(state: State, seats: Sequence[int] | None = None, *, ascii_only: bool = False) -> str:
    """Write the Alhambras of these seats, and the neutral player's tiles; ends in a newline."""
    lines = [*wrapped(_neutral(state)), ""] if state.seats == 2 else []
    for seat in range(state.seats) if seats is None else seats:
        has = [f"{player_words(seat)}: {_scored(state, seat)}", f"  built: {_counts(state.counts(seat))}"]
        lines += [*wrapped(has), "", text(state.layouts[seat], ascii_only=ascii_only)]
    return "\n".join(lines)


def _table(state: State) -> Iterable[str]:
    names = state.tile_set.names
    yield f"turns ended: {state.turns}; scoring rounds held: {state.scorings}"
    for slot, tile in enumerate(state.market):
        currency = CURRENCIES[state.options.slot_currencies[slot]]
        yield f"market {slot + 1} ({currency}): {'-' if tile == FREE else names[tile]}"
    yield f"money row: {listed(map(card_name, state.row))}"
    yield f"bag: {state.bag.bit_count()} tiles; money deck: {sum(state.deck)} cards, discards: {sum(state.discard)}"
    if state.seats == 2:
        yield from _neutral(state)


def _neutral(state: State) -> Iterable[str]:
    names = state.tile_set.names
    yield f"neutral player: {state.neutral.bit_count() or 'no'} tiles"
    if state.neutral:
        yield f"  {_counts(state.neutral_counts())}"
        yield f"  {listed(names[tile] for tile in tiles_of(state.neutral))}"


def _seat(state: State, seat: int, names: Sequence[str]) -> Iterable[str]:
    tiles = state.tile_set.names
    hand = [kind for kind in range(KINDS) for _ in range(state.hands[seat][kind])]
    start = "; start seat" if seat == state.start and state.phase >= Phase.FIRST_ROW else ""
    yield f"{player_words(seat, names)}: {_scored(state, seat)}{start}"
    yield f"  built: {_counts(state.counts(seat))}"
    yield f"  hand, {total(hand)} money: {listed(map(card_name, hand))}"
    yield f"  reserve: {listed(tiles[tile] for tile in tiles_of(state.reserves[seat]))}"
    waiting = state.won[seat] | (state.bought if seat == state.seat else 0)
    if waiting:
        yield f"  to be placed: {listed(tiles[tile] for tile in tiles_of(waiting))}"


def _scored(state: State, seat: int) -> str:
    return f"{state.scores[seat]} points; wall {state.wall(seat)}"


def _counts(counts: Sequence[int]) -> str:
    return ", ".join(f"{type_} {count}" for type_, count in zip(TYPES, counts, strict=True) if count) or "no tiles"


def pictures(about: claims.Claim, *, ascii_only: bool = False) -> list[str]:
    """Return the layouts that show what the claim is about: after a step, where it can be taken. Each ends in a
    newline.
    """
    tiles = tile_set()
    boards = (
        Layout.of(tiles, {cell: tiles.numbers[tile] for cell, tile in layout.items()}) for layout in _layouts(about)
    )
    return [text(board, ascii_only=ascii_only) for board in boards]


def _layouts(about: claims.Claim) -> list[Mapping[Cell, str]]:
    match about:
        case claims.StepClaim(layout, claims.Place(tile, at)) if at not in layout and at != (0, 0):
            return [{**layout, at: tile}]
        case claims.StepClaim(layout, claims.Swap(tile, at)) if at in layout:
            return [{**layout, at: tile}]
        case claims.StepClaim(layout, claims.Remove(at)):
            return [{cell: tile for cell, tile in layout.items() if cell != at}]
        case claims.DistanceClaim(start, _, goal, _):
            return [start, goal]
        case claims.HandOutClaim():
            return []
        case claims.StepClaim(layout) | claims.TurnClaim(layout) | claims.NoPlacementClaim(layout):
            return [layout]


_FOOT: Final = 62
_MIN_WIDTH: Final = 580
"""The width of the line at the bottom."""
_BAR: Final = 11
"""Thickness of a wall."""
_CHIP: Final = 72
"""Width of an item at the bottom."""

STONE: Final = "#33271f"
GOLD: Final = "#f0a81c"
COST_PAPER: Final = "#fff8e6"

# Each side's two ends, clockwise, and its bar, in a cell of 100 by 100.
_ENDS: Final = {N: ((0, 0), (1, 0)), E: ((1, 0), (1, 1)), S: ((1, 1), (0, 1)), W: ((0, 1), (0, 0))}
_BARS: Final = {
    N: f"M0 0H{CELL}V{_BAR}H0z",
    E: f"M{CELL - _BAR} 0H{CELL}V{CELL}H{CELL - _BAR}z",
    S: f"M0 {CELL - _BAR}H{CELL}V{CELL}H0z",
    W: f"M0 0H{_BAR}V{CELL}H0z",
}
# The stones of a wall: short pale joints across the bar.
_JOINTS: Final = {
    N: "M0 6H100M17 0v6M50 0v6M83 0v6M33 6v5M67 6v5",
    E: "M94 0V100M100 17h-6M100 50h-6M100 83h-6M94 33h-5M94 67h-5",
    S: "M0 94H100M17 100v-6M50 100v-6M83 100v-6M33 94v-5M67 94v-5",
    W: "M6 0V100M0 17h6M0 50h6M0 83h6M6 33h5M6 67h5",
}

# In a box of 60 by 60, as the buildings are.
_FOUNTAIN: Final = """\
<g fill="none" stroke="#4d9cc9" stroke-width="2.6" stroke-linecap="round">\
<path d="M30 27V8M30 9C24 3 17 8 17 17M30 9c6-6 13-1 13 8M30 16c-3-4-7-2-7 4M30 16c3-4 7-2 7 4"/></g>
<path d="M17 26h26c0 6-6 9-13 9s-13-3-13-9z" fill="#b9a88c"/><ellipse cx="30" cy="26" rx="13" ry="3" fill="#8ecae6"/>
<path d="M27.5 34h5l1.5 9h-8z" fill="#a4917a"/>
<path d="M3 43h54c0 10-12 15-27 15S3 53 3 43z" fill="#c9b89b"/><ellipse cx="30" cy="43" rx="27" ry="6" fill="#e2d4ba"/>
<ellipse cx="30" cy="43.5" rx="22.5" ry="4.2" fill="#6bb3d9"/>
<path d="M15 43.5c3-1.5 5 1 8 0M33 44.5c3-1.5 6 1 9 0" fill="none" stroke="#e6f5fc" stroke-width="1.3"/>"""


def svg(layout: Layout, title: str = "Alhambra", *, wall_points: int | None = None) -> str:
    """Draw a legal layout: tiles, walls, the longest wall in gold, and the counts below.

    ``wall_points``: the wall's score, where the game's options make it another number than its length (ALH-B6).
    """
    cells = layout.cells()
    columns = [x for x, _ in cells] + [0]
    rows = [y for _, y in cells] + [0]
    across, down = max(columns) - min(columns) + 1, max(rows) - min(rows) + 1
    width = max(across * CELL + 2 * MARGIN, _MIN_WIDTH)
    height = HEAD + down * CELL + 2 * MARGIN + _FOOT
    left = (width - across * CELL) // 2
    top = HEAD + MARGIN
    wall = longest_wall(layout)
    points = len(wall) if wall_points is None else wall_points
    shift = f"translate({left - min(columns) * CELL} {top - min(rows) * CELL})"
    parts = [
        f"<defs>\n{definitions()}{symbol('fountain', _FOUNTAIN)}</defs>",
        f'<g transform="{shift}">',
        *numbers(range(min(columns), max(columns) + 1), range(min(rows), max(rows) + 1)),
        shadow([(0, 0), *cells]),
        *([_halo(wall)] if wall else []),
        _fountain(),
        *(_tile(layout, cell, tile) for cell, tile in cells.items()),
        "</g>",
        *_foot(layout, points, width, height - _FOOT),
    ]
    return picture(title, _description(layout, points), width, height, parts)


def seat_svg(state: State, seat: int, title: str) -> str:
    """Draw a seat's Alhambra in a game."""
    return svg(state.layouts[seat], title, wall_points=state.wall(seat))


def _description(layout: Layout, wall: int) -> str:
    """Describe the picture in words, for readers who cannot see it."""
    names = layout.tile_set.names
    tiles = "; ".join(f"{names[tile]} at {x},{y}" for (x, y), tile in layout.cells().items())
    return f"The fountain at 0,0. Tiles: {tiles or 'none'}. Longest wall: {wall}."


def _halo(wall: list[Side]) -> str:
    """Draw a golden line along the longest wall, half of it hidden by the tiles that come after."""
    points: list[str] = []
    for (x, y), side in wall:
        (x1, y1), (x2, y2) = _ENDS[side]
        if not points:
            points.append(f"M{(x + x1) * CELL} {(y + y1) * CELL}")
        points.append(f"L{(x + x2) * CELL} {(y + y2) * CELL}")
    return (
        f'<path d="{"".join(points)}" fill="none" stroke="{GOLD}" stroke-width="22" stroke-linejoin="round"'
        ' stroke-linecap="round"/>'
    )


def _ground(x: int, y: int, fill: str, line: str) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}"/>'
        f'<rect x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 2}" fill="none" stroke="{line}"'
        ' stroke-opacity=".35" stroke-width="2"/>'
    )


def _fountain() -> str:
    return f"<g><title>fountain at 0,0</title>{_drawn_fountain()}</g>"


def _drawn_fountain() -> str:
    return (
        _ground(0, 0, "#efe6d2", "#8d7a5c")
        + '<circle cx="50" cy="50" r="43" fill="#f9f4e8" stroke="#d3c19c" stroke-width="2"/>'
        + '<use href="#alh-fountain" x="19" y="17" width="62" height="62"/>'
    )


def _tile(layout: Layout, cell: Cell, tile: int) -> str:
    x, y = cell[0] * CELL, cell[1] * CELL
    name = layout.tile_set.names[tile]
    drawn = _drawn_tile(layout.tile_set, tile)
    return f'<g transform="translate({x} {y})"><title>{name} at {cell[0]},{cell[1]}</title>{drawn}</g>'


def pieces() -> tuple[str, ...]:
    """Return definitions for a page to draw boards with: ``alh-piece-fountain``, ``alh-piece-garden-10-N`` and so on,
    each a cell of 100 by 100. On a phone they are as small as a thumb, so what tells tiles apart is large in them.
    """
    tiles = tile_set()
    drawn = {"fountain": _drawn_fountain()}
    drawn |= {name: _drawn_tile(tiles, n, small=True) for n, name in enumerate(tiles.names)}
    return (
        f"<defs>{definitions()}</defs>",
        f"<defs>{symbol('fountain', _FOUNTAIN)}{cells_drawn('alh-piece', drawn)}</defs>",
    )


def _drawn_tile(tiles: TileSet, tile: int, *, small: bool = False) -> str:
    """``small``: to be seen small, so without the word, and with a large cost."""
    type_ = TYPES[tiles.types[tile]]
    colours = COLOURS[type_]
    walls = [side for side in (N, E, S, W) if tiles.walls[tile] & side]
    drawn = [
        _ground(0, 0, f"url(#alh-ground-{type_})", colours.ink),
        f'<use href="#alh-{type_}" x="30" y="26" width="60" height="60"/>'
        if small
        else f'<use href="#alh-{type_}" x="27" y="22" width="52" height="52"/>'
        + words(50, 85.5, type_, 11, colour=colours.ink),
    ]
    if walls:
        drawn.append(f'<path d="{"".join(_BARS[side] for side in walls)}" fill="{STONE}"/>')
        joints = "".join(_JOINTS[side] for side in walls)
        drawn.append(f'<path d="{joints}" fill="none" stroke="#7d6a5a" stroke-width="1"/>')
    at, radius, size = (31, 19, 24) if small else (23.5, 11.5, 15)
    drawn += [
        f'<circle cx="{at}" cy="{at}" r="{radius}" fill="{COST_PAPER}" stroke="{colours.ink}" stroke-width="1.8"/>',
        words(at, at + size * 0.353, str(tiles.costs[tile]), size, colour=colours.ink, bold=True),
    ]
    return "".join(drawn)


def _foot(layout: Layout, wall: int, width: int, y: int) -> Iterable[str]:
    """Draw the number of tiles of each type, and the wall: these are scored."""
    counts = [0] * len(TYPES)
    for tile in layout.tiles.values():
        counts[layout.tile_set.types[tile]] += 1
    x = (width - _CHIP * (len(TYPES) + 1)) / 2 - 14
    for type_, count in zip(TYPES, counts, strict=True):
        colours = COLOURS[type_]
        yield (
            f'<g><title>{type_}: {count}</title><circle cx="{x + 20:g}" cy="{y + 20}" r="17" fill="{colours.chip}"'
            f' stroke="{colours.ink}" stroke-width="1.2"/>'
            f'<use href="#alh-{type_}" x="{x + 9:g}" y="{y + 8}" width="22" height="22"/>'
            + words(x + 54, y + 27, str(count), 20, colour=INK if count else PALE)
            + "</g>"
        )
        x += _CHIP
    yield (
        f'<g><title>longest wall: {wall}</title><path d="M{x + 16:g} {y + 20}h34" stroke="{GOLD}" stroke-width="22"'
        f' stroke-linecap="round"/><path d="M{x + 14:g} {y + 20}h38" stroke="{STONE}" stroke-width="11"/>'
        + words(x + 80, y + 27, str(wall), 20, bold=True)
        + "</g>"
    )


_SIDES: Final = ((N, "N"), (E, "E"), (S, "S"), (W, "W"))


def components() -> dict[str, Any]:
    """Return types, and each tile with its type, cost and the sides of its walls."""
    tiles = tile_set()
    return {
        "types": TYPES,
        "tiles": [
            {
                "name": name,
                "type": TYPES[tiles.types[number]],
                "cost": tiles.costs[number],
                "walls": "".join(letter for side, letter in _SIDES if tiles.walls[number] & side),
            }
            for number, name in enumerate(tiles.names)
        ],
    }
