"""Each game's drawings: their contract, and their common part: marks and words for text, and SVG. Knows no game."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import TextWrapper
from typing import Any, Final, Protocol
from xml.sax.saxutils import escape, quoteattr

from referee.games import registry
from referee.games.game import Cell, Chance, Decision, Forced, Over, Pending
from referee.text.words.catalogue import load, player


class Renderer(Protocol):
    """The functions that a game's package offers."""

    def position_text(
        self,
        state: Any,
        seats: Sequence[int] | None = None,
        *,
        names: Sequence[str] = (),
        awaits: bool = True,
        marked: Collection[Cell] = (),
        ascii_only: bool = False,
    ) -> str:
        """Write the pieces on the table, and those of these seats (None: all).

        ``names``: the players' names by seat, empty for none. ``awaits``: begin with the awaited act. ``marked``: cells
        to be marked with ! on the board of the first of these seats.
        """

    def boards_text(self, state: Any, seats: Sequence[int] | None = None, *, ascii_only: bool = False) -> str:
        """Write what these seats (None: all) have at the end of a game of which nothing but the boards is known."""

    def seat_svg(self, state: Any, seat: int, title: str) -> str:
        """Draw the seat's board."""

    def pieces(self) -> tuple[str, ...]:
        """Return SVG definitions, ``<defs>`` elements, that a page can draw boards with; their ids are the game's own.

        Games may have a definition in common.
        """

    def components(self) -> dict[str, Any]:
        """Return what a position is put together from, tiles, dominoes or a sheet, as JSON for a page."""


def renderer(rules_id: str) -> Renderer:
    """Return the game's package. Raise ``UnknownRules``."""
    found: Renderer = registry.part(__package__, rules_id)
    return found


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
    """Return the awaited act: ``player 1 to move: take money``, ``awaiting chance: hand`` or ``over (rules): …``.

    The worth of a position is that of its moves alone: forfeits, penalties and rulings are no part of it.
    """
    match pending:
        case Decision(seat, kinds):
            return f"{player_words(seat)} to move: {', '.join(kind.replace('_', ' ') for kind in kinds)}"
        case Chance(kind):
            return f"awaiting chance: {kind.replace('_', ' ')}"
        case Forced(seat):
            return f"{player_words(seat)} has no legal action"
        case Over(ending, scores):
            first, *others = (f"{player_words(seat)}: {score}" for seat, score in enumerate(scores))
            return f"over ({ending.words}), by the moves alone: {', '.join([f'{first} points', *others])}"


def player_words(seat: int, names: Sequence[str] = ()) -> str:
    """Return ``player 1`` for seat 0, or the name. ``names``: by seat, empty for none."""
    return player(load("report").naming(names), seat)


def wrapped(lines: Iterable[str]) -> Iterable[str]:
    """Yield lines that a terminal holds; a line that is too long continues indented."""
    return (short for line in lines for short in _WRAPPER.wrap(line))


def listed(names: Iterable[str]) -> str:
    """Return the names with spaces between them; a dash for none."""
    return " ".join(names) or "-"


CELL: Final = 100
"""Side of a board's cell."""
MARGIN: Final = 46
"""Around a board: room for the numbers of its rows and columns."""
HEAD: Final = 58
"""Height of the title above a picture."""

PAPER: Final = "#f7f0e1"
INK: Final = "#3b2c20"
PALE: Final = "#a08f78"

_FONT: Final = "Georgia,'DejaVu Serif','Times New Roman',serif"
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def picture(title: str, description: str, width: int, height: int, parts: Iterable[str]) -> str:
    """Return a self-contained SVG: paper, headline and the parts; ``description`` says in words what they show."""
    title = _NOT_XML.sub("\ufffd", title)
    room = width // 19
    headline = title if len(title) <= room else title[: room - 1] + "…"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"',
        f' role="img" aria-label={quoteattr(title)} font-family="{_FONT}">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>",
        f'<rect width="{width}" height="{height}" rx="18" fill="{PAPER}"/>',
        f'<rect x="7" y="7" width="{width - 14}" height="{height - 14}" rx="13" fill="none" stroke="#d9c8a5"/>',
        words(width / 2, 46, headline, 28, bold=True),
        *parts,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def cells_drawn(kind: str, drawn: Mapping[str, str]) -> str:
    """Return a symbol for each drawing of a cell, to be used as ``#kind-name``."""
    box = f'viewBox="0 0 {CELL} {CELL}"'
    return "".join(f'<symbol id="{kind}-{name}" {box}>{drawing}</symbol>\n' for name, drawing in drawn.items())


def words(x: float, y: float, said: str, size: int, *, colour: str = INK, bold: bool = False) -> str:
    """Return a line of text, centred at ``x``, its foot at ``y``."""
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" text-anchor="middle"{weight}>'
        f"{escape(said)}</text>"
    )


def numbers(columns: range, rows: range) -> Iterable[str]:
    """Yield the numbers above and beside the cells of a board."""
    top, left = rows[0] * CELL, columns[0] * CELL
    for x in columns:
        yield words(x * CELL + 50, top - 18, str(x), 17, colour=PALE)
    for y in rows:
        yield words(left - 24, y * CELL + 56, str(y), 17, colour=PALE)


def shadow(cells: Iterable[Cell]) -> str:
    """Return the shadow that the pieces on these cells throw on the paper."""
    path = "".join(f"M{x * CELL} {y * CELL}h{CELL}v{CELL}h-{CELL}z" for x, y in cells)
    return f'<path d="{path}" fill="#5b4630" fill-opacity=".28" transform="translate(5 7)"/>'


@dataclass(frozen=True, slots=True)
class Colours:
    """Colours of one building type: the ground from top to bottom, its ink, and its chip in the legend."""

    light: str
    deep: str
    ink: str
    chip: str


COLOURS: Final = {
    "pavilion": Colours("#8fb8e8", "#4f83c4", "#173a6b", "#4f83c4"),  # blue
    "seraglio": Colours("#ee9a8b", "#cc4f43", "#6e1512", "#cc4f43"),  # red
    "arcades": Colours("#d9b48a", "#a97443", "#4f2d10", "#a97443"),  # brown
    "chambers": Colours("#ffffff", "#e6e2da", "#57524a", "#fbfaf6"),  # white
    "garden": Colours("#a9d68a", "#5f9f4c", "#1f4d1a", "#5f9f4c"),  # green
    "tower": Colours("#c4a3dd", "#9163b7", "#3f1d5e", "#9163b7"),  # purple
}

_PAVILION: Final = """\
<path d="M30 3v7" stroke="#173a6b" stroke-width="2.5" stroke-linecap="round"/>
<path d="M9 27C10 14 20 9 30 9s20 5 21 18z" fill="#2f62a8"/>
<path d="M30 9c-5 4-8 9-8 18M30 9c5 4 8 9 8 18" fill="none" stroke="#9cc3f0" stroke-width="1.6"/>
<rect x="7" y="27" width="46" height="5" rx="1.5" fill="#173a6b"/>
<g fill="#eef5ff"><rect x="11" y="32" width="5" height="18"/><rect x="22.5" y="32" width="4" height="18"/>\
<rect x="33.5" y="32" width="4" height="18"/><rect x="44" y="32" width="5" height="18"/></g>
<rect x="7" y="50" width="46" height="4" fill="#2f62a8"/><rect x="4" y="54" width="52" height="4" fill="#173a6b"/>"""

_SERAGLIO: Final = """\
<path d="M30 2v5M11 14v4M49 14v4" stroke="#6e1512" stroke-width="2" stroke-linecap="round"/>
<path d="M19 27c-3-9 5-13 11-20 6 7 14 11 11 20z" fill="#a02a22"/>
<path d="M4 32c-2-7 3-9 7-14 4 5 9 7 7 14zM42 32c-2-7 3-9 7-14 4 5 9 7 7 14z" fill="#a02a22"/>
<path d="M19 27h22v31H19z" fill="#fbe9df"/><path d="M4 32h14v26H4zM42 32h14v26H42z" fill="#f3d2c3"/>
<path d="M18 27h24v3H18zM3 32h15v3H3zM42 32h15v3H42z" fill="#6e1512"/>
<path d="M24 58V43a6 6 0 0 1 12 0v15zM8 51v-7a3 3 0 0 1 6 0v7zM46 51v-7a3 3 0 0 1 6 0v7z" fill="#6e1512"/>"""

_ARCADES: Final = """\
<rect x="3" y="10" width="54" height="48" fill="#f3e0c5"/>
<path d="M1 7h58v6H1zM3 30h54v3H3z" fill="#6b4320"/>
<path d="M7 30v-6a4 4 0 0 1 8 0v6zM20 30v-6a4 4 0 0 1 8 0v6zM33 30v-6a4 4 0 0 1 8 0v6zM46 30v-6a4 4 0 0 1 8 0v6z" \
fill="#a5703d"/>
<path d="M6 58V46c0-9 13-9 13 0v12zM23.5 58V46c0-9 13-9 13 0v12zM41 58V46c0-9 13-9 13 0v12z" fill="#4f2d10"/>
<path d="M6 46c0-9 13-9 13 0M23.5 46c0-9 13-9 13 0M41 46c0-9 13-9 13 0" fill="none" stroke="#a5703d" \
stroke-width="2.2"/>"""

_CHAMBERS: Final = """\
<path d="M14 22h32v36H14z" fill="#fdfcf9" stroke="#57524a" stroke-width="1.5"/>
<path d="M3 36h11v22H3zM46 36h11v22H46z" fill="#efebe2" stroke="#57524a" stroke-width="1.5"/>
<path d="M10 22L30 6l20 16z" fill="#b8afa0" stroke="#57524a" stroke-width="1.5" stroke-linejoin="round"/>
<path d="M1 36l7.5-7H14v7zM59 36l-7.5-7H46v7z" fill="#b8afa0" stroke="#57524a" stroke-width="1.5" \
stroke-linejoin="round"/>
<path d="M25 58V48a5 5 0 0 1 10 0v10zM18.5 38v-7a3 3 0 0 1 6 0v7zM35.5 38v-7a3 3 0 0 1 6 0v7zM6 50v-6h5v6zM49 \
50v-6h5v6z" fill="#57524a"/><circle cx="30" cy="16" r="2.6" fill="#57524a"/>"""

_GARDEN: Final = """\
<path d="M2 52c8-6 48-6 56 0v6H2z" fill="#3f7a31"/>
<path d="M14 50V42M45 50V38" stroke="#5d3d1c" stroke-width="4"/>
<path d="M14 4c7 12 9 25 7 35-1 6-13 6-14 0C5 29 7 16 14 4z" fill="#2c6424"/>
<path d="M14 4c-1 12-2 26-1 39-3 0-5-1-6-4C5 29 7 16 14 4z" fill="#3f7f33"/>
<circle cx="45" cy="26" r="13" fill="#2c6424"/><circle cx="42" cy="23" r="8.5" fill="#478c39"/>
<g fill="#f4d35e"><circle cx="39" cy="30" r="2.2"/><circle cx="48" cy="20" r="2.2"/><circle cx="51" cy="30" \
r="2.2"/></g>
<g fill="#f7e7f0"><circle cx="27" cy="53" r="2.2"/><circle cx="33" cy="55" r="2.2"/><circle cx="22" cy="56" \
r="2.2"/></g>"""

_TOWER: Final = """\
<path d="M30 1v9" stroke="#3f1d5e" stroke-width="2"/><path d="M31 1l11 3.5-11 3.5z" fill="#e8c547"/>
<path d="M15 10h6v5h6v-5h6v5h6v-5h6v14H15z" fill="#6a3d91"/><path d="M18 24h24v34H18z" fill="#efe3f8"/>
<path d="M18 24h24v3H18z" fill="#3f1d5e"/><path d="M35 27h7v31h-7z" fill="#d9c2ea"/>
<path d="M27 42v-6a3 3 0 0 1 6 0v6zM24.5 58V52a5.5 5.5 0 0 1 11 0v6z" fill="#3f1d5e"/>
<path d="M13 54h5v4h-5zM42 54h5v4h-5z" fill="#6a3d91"/>"""

_ICONS: Final = dict(zip(COLOURS, (_PAVILION, _SERAGLIO, _ARCADES, _CHAMBERS, _GARDEN, _TOWER), strict=True))


def definitions() -> str:
    """Return definitions for each type: its ground ``alh-ground-tower``, and its drawing ``alh-tower``."""
    grounds = "".join(
        f'<linearGradient id="alh-ground-{type_}" x1="0" y1="0" x2="0" y2="1">'
        f'<stop stop-color="{colours.light}"/><stop offset="1" stop-color="{colours.deep}"/></linearGradient>\n'
        for type_, colours in COLOURS.items()
    )
    return grounds + "".join(symbol(type_, drawing) for type_, drawing in _ICONS.items())


def symbol(name: str, drawing: str) -> str:
    """Return a drawing that can be referred to as ``alh-`` and its name."""
    return f'<symbol id="alh-{name}" viewBox="0 0 60 60">{drawing}</symbol>\n'
