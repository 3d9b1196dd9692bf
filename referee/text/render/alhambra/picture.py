"""A layout as one self-contained SVG picture. Equal layouts give equal bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from referee.games.alhambra import State
from referee.games.alhambra.layout import Layout
from referee.games.alhambra.outline import Side, longest_wall
from referee.games.alhambra.tiles import TYPES, E, N, S, TileSet, W, tile_set
from referee.games.game import Cell
from referee.text.render.buildings import COLOURS, definitions, symbol
from referee.text.render.svg import CELL, HEAD, INK, MARGIN, PALE, cells_drawn, numbers, picture, shadow, words

_FOOT: Final = 62
_MIN_WIDTH: Final = 580
"""What the line at the bottom needs."""
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

    ``wall_points``: what the wall scores, where the game's options make it another number than its length (ALH-B6).
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
    """Draw how many tiles there are of each type, and the wall: what is scored."""
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
